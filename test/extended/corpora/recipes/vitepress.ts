// VitePress with its local search.

import { corpusPages, markdownOf, pagesByFolder, pictureNames, pictureOf } from '../content.ts';
import type { Corpus } from '../corpus.ts';

const sidebar = [...pagesByFolder()].map(([text, pages]) => ({
  text,
  items: pages.map(({ title, path }) => ({ text: title, link: `/${path}` })),
}));
const config = {
  title: 'Corpus',
  ignoreDeadLinks: true,
  themeConfig: { search: { provider: 'local' }, sidebar },
};

export const vitepressCorpus: Corpus = {
  name: 'vitepress',
  packages: { vitepress: '1.6.4' },
  files: {
    '.vitepress/config.mjs': `export default ${JSON.stringify(config)};\n`,
    'index.md': `# Corpus\n\n[Install](/guides/install)\n\n![Home](/pictures/one.png)\n`,
    ...Object.fromEntries(
      corpusPages.map((page) => [
        `${page.path}.md`,
        markdownOf(page, { link: (path) => `/${path}`, picture: (name) => `/pictures/${name}` }),
      ]),
    ),
    ...Object.fromEntries(pictureNames.map((name) => [`public/pictures/${name}`, pictureOf(name)])),
  },
  commands: [['vitepress', 'build', '--outDir', 'out']],
  output: 'out',
  search: {
    path: '/',
    opens: ['button.DocSearch-Button'],
    input: '#localsearch-input',
    results: '.VPLocalSearchBox .results',
    tools: ['vitepress'],
  },
  navigations: [
    { from: '/guides/install.html', link: '.vp-doc a[href^="/guides/configure"]', to: '/guides/configure' },
  ],
  pages: 13,
};
