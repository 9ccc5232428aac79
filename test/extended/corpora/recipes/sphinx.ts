// Sphinx with furo. Its search is a page that reads the index as a script.

import {
  corpusPages,
  markdownOf,
  pagesByFolder,
  pictureNames,
  pictureOf,
  relativePath,
  soughtPage,
} from '../content.ts';
import type { Corpus } from '../corpus.ts';

const contents = [...pagesByFolder()].map(([folder, pages]) =>
  ['```{toctree}', `:caption: ${folder}`, ...pages.map(({ path }) => path), '```', ''].join('\n'),
);

export const sphinxCorpus: Corpus = {
  name: 'sphinx',
  pythonPackages: ['sphinx==9.0.4', 'furo==2025.12.19', 'myst-parser==5.2.0'],
  files: {
    'source/conf.py': "project = 'Corpus'\nextensions = ['myst_parser']\nhtml_theme = 'furo'\n",
    'source/index.md': `# Corpus\n\n![Home](pictures/one.png)\n\n${contents.join('\n')}`,
    ...Object.fromEntries(
      corpusPages.map((page) => [
        `source/${page.path}.md`,
        markdownOf(page, {
          link: (path, from) => `${relativePath(path, from)}.md`,
          picture: (name, from) => relativePath(`pictures/${name}`, from),
        }),
      ]),
    ),
    ...Object.fromEntries(pictureNames.map((name) => [`source/pictures/${name}`, pictureOf(name)])),
  },
  commands: [['sphinx-build', '-q', '-b', 'html', 'source', 'out']],
  output: 'out',
  search: { path: `/search.html?q=${soughtPage.word}`, results: '#search-results', tools: ['sphinx'] },
  navigations: [
    {
      from: '/guides/install.html',
      link: 'article a[href="configure.html"]',
      to: '/guides/configure.html',
    },
  ],
  pages: 15,
};
