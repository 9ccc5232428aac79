// MkDocs Material, in two versions and an alias that mike keeps in folders. Its own search runs in a worker.

import { corpusPages, markdownOf, pictureNames, pictureOf, relativePath } from '../content.ts';
import type { Corpus } from '../corpus.ts';

const config = `site_name: Corpus
site_url: https://docs.example.com/
theme:
  name: material
  font: false
  features: [navigation.instant]
extra:
  version:
    provider: mike
plugins:
  - search
`;
const mike = (...words: readonly string[]): readonly string[] => ['mike', ...words];

export const mkdocsCorpus: Corpus = {
  name: 'mkdocs',
  pythonPackages: ['mkdocs-material==9.8.2', 'mike==2.2.0'],
  files: {
    'mkdocs.yml': config,
    'docs/index.md': '# Corpus\n\n[Install](guides/install.md)\n\n![Home](pictures/one.png)\n',
    ...Object.fromEntries(
      corpusPages.map((page) => [
        `docs/${page.path}.md`,
        markdownOf(page, {
          link: (path, from) => `${relativePath(path, from)}.md`,
          picture: (name, from) => relativePath(`pictures/${name}`, from),
        }),
      ]),
    ),
    ...Object.fromEntries(pictureNames.map((name) => [`docs/pictures/${name}`, pictureOf(name)])),
  },
  commands: [
    ['git', 'init', '--quiet', '--initial-branch=main'],
    ['git', 'config', 'user.name', 'Corpus'],
    ['git', 'config', 'user.email', 'corpus@docs.example.com'],
    ['git', 'commit', '--quiet', '--allow-empty', '--message', 'Start'],
    mike('deploy', '1.0'),
    mike('deploy', '2.0', 'latest'),
    mike('set-default', 'latest'),
    ['git', 'worktree', 'add', '--quiet', 'out', 'gh-pages'],
    ['rm', 'out/.git'],
  ],
  output: 'out',
  search: {
    path: '/1.0/guides/install/',
    opens: ['input.md-search__input'],
    input: 'input.md-search__input',
    results: '.md-search__output',
    tools: ['mkdocs', 'mkdocs', 'mkdocs'],
  },
  navigations: [
    {
      from: '/2.0/guides/install/',
      link: 'article a[href$="/configure/"]',
      to: '/2.0/guides/configure/',
    },
  ],
  pages: 40,
};
