// A small docs site made with VitePress. What differs between two builds is the version, which is in every page and in
// the code of the client.

import { defineConfig } from 'vitepress';

const version = process.env.SITE_VERSION ?? 'v1';

export default defineConfig({
  title: 'Docs',
  cleanUrls: true,
  outDir: 'out',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  vite: { define: { __SITE_VERSION__: JSON.stringify(version) } },
  themeConfig: {
    nav: [
      { text: 'Home', link: '/' },
      { text: 'Guides', link: '/guides/' },
      { text: 'Install', link: '/guides/install' },
      { text: 'Deploy', link: '/guides/deploy' },
      { text: 'Flags', link: '/reference/flags' },
      { text: 'Metrics', link: '/reference/metrics' },
    ],
  },
});
