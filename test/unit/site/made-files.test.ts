// What all makers of files have in common: they rest after each page, so that their thread keeps to its share of a core.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MakeFiles } from '#bundle/made-files.ts';
import { makeMarkdownFiles } from '#site/markdown/markdown-files.ts';
import { makeSearchIndex } from '#site/search/search-files.ts';
import { memoryBundle } from '../../support/memory-bundle.ts';

const makers: Readonly<Record<string, MakeFiles>> = {
  'the index of a search': makeSearchIndex,
  Markdown: makeMarkdownFiles({}),
};

for (const [name, make] of Object.entries(makers)) {
  test(`the maker of ${name} waits for a rest after each page, also without a file`, async () => {
    const site = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`p${at}.html`, `<main><h1>Page ${at}</h1></main>`]),
    );
    const rests: number[] = [];
    let read = 0;
    const context = {
      signal: new AbortController().signal,
      onFile: (done: number) => {
        read = done;
      },
      rest: async () => {
        rests.push(read);
      },
    };
    for await (const _file of make(memoryBundle(site), context));
    assert.deepEqual(
      rests,
      Array.from({ length: 30 }, (_, at) => at + 1),
    );
  });
}
