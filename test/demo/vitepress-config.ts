// The VitePress configuration of the demo's origin; copied into the site's own folder, which is the working
// directory of the build. The pages were written for other generators, hence the leniency.

import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitepress';

const pages = readdirSync('.', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && name !== 'index.md' && !name.includes('node_modules/'))
  .sort();
const groups = Map.groupBy(pages, (page) => page.split('/')[0] ?? '');

export default defineConfig({
  title: 'Demo docs',
  lastUpdated: false,
  ignoreDeadLinks: true,
  srcExclude: ['node_modules/**'],
  outDir: process.env['SITE_OUT_DIR'] ?? 'dist',
  sitemap: { hostname: 'https://docs.example.com' },
  markdown: {
    html: false,
    languageAlias: { mjs: 'js', cjs: 'js' },
    config: (md) => {
      const { text } = md.renderer.rules;
      // Vue reads braces in prose as an interpolation, and these pages were not written for Vue.
      md.renderer.rules.text = (tokens, index, options, env, self) =>
        (text?.(tokens, index, options, env, self) ?? '').replaceAll('{{', '&#123;&#123;');
      // Pictures are not shipped in the packages.
      md.renderer.rules.image = (tokens, index) => md.utils.escapeHtml(tokens[index]?.content ?? '');
    },
  },
  themeConfig: {
    sidebar: [...groups].map(([group, members]) => ({
      text: group,
      collapsed: true,
      items: members.map((page) => ({
        text: page.slice(group.length + 1, -3),
        link: `/${page.slice(0, -3)}`,
      })),
    })),
  },
});
