// Javadoc. Its search box reads indexes as scripts, below the root of the site.

import { corpusPages, soughtPage } from '../content.ts';
import type { Corpus } from '../corpus.ts';

export const javadocCorpus: Corpus = {
  name: 'javadoc',
  files: {
    // The style sheet imports it; packages of Debian leave it out.
    'out/api/resources/fonts/dejavu.css': '/* no fonts */\n',
    'out/index.html':
      '<!doctype html><html lang="en"><title>Corpus</title><h1>Corpus</h1><a href="api/">API</a></html>\n',
    ...Object.fromEntries(
      corpusPages.map(({ path, title, word }) => [
        `source/org/corpus/${path.slice(0, path.indexOf('/'))}/${title}.java`,
        `package org.corpus.${path.slice(0, path.indexOf('/'))};\n\n/** ${title}, which is about ${word}. */\npublic class ${title} {\n` +
          `  /** What it is about. @return a name */\n  public String ${word}() {\n    return "${word}";\n  }\n}\n`,
      ]),
    ),
  },
  commands: [
    [
      ...['javadoc', '-quiet', '-Xdoclint:none', '-notimestamp', '-d', 'out/api', '-sourcepath', 'source'],
      ...['-subpackages', 'org.corpus'],
    ],
  ],
  output: 'out',
  search: {
    path: '/api/index.html',
    opens: ['#search-input'],
    input: '#search-input',
    results: '.ui-autocomplete',
    tools: ['javadoc'],
  },
  navigations: [
    {
      from: '/api/index.html',
      link: `main a[href="org/corpus/${soughtPage.path.slice(0, soughtPage.path.indexOf('/'))}/package-summary.html"]`,
      to: '/api/org/corpus/reference/package-summary.html',
    },
  ],
  pages: 25,
};
