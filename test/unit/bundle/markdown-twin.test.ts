// Which names mean the Markdown twin of a page, and that each name means one page alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTwin, pageOfTwinName, twinNames } from '#bundle/markdown-twin.ts';
import * as fc from '../../support/properties.ts';
import { words } from '../../support/words.ts';

const hasOf = (paths: readonly string[]) => (path: string) => paths.includes(path);
const alone = hasOf([]);

test('a page has one twin under four names, the start page under two, and what is not a page none', () => {
  for (const [page, names] of [
    ['index.html', 'index.md index.html.md'],
    ['guide.html', 'guide.md guide/index.html.md guide.html.md guide/index.md'],
    ['guide/index.html', 'guide.md guide/index.html.md guide.html.md guide/index.md'],
    ['a/b.HTM', 'a/b.md a/b/index.html.md a/b.html.md a/b/index.md'],
    ['404.html', ''],
    ['x.js', ''],
  ] as const) {
    assert.deepEqual(twinNames(page, alone), names.split(' ').filter(Boolean), page);
  }
});

test('a page and the page of a folder of its name share no name', () => {
  for (const [file, folder] of [
    ['a.html', 'a/index.html'],
    ['a.htm', 'a/index.html'],
    ['index.html', 'index/index.html'],
    ['a/index.html', 'a/index/index.html'],
  ] as const) {
    const has = hasOf([file, folder]);
    const both = new Set([...twinNames(file, has), ...twinNames(folder, has)]);
    assert.equal(both.size, twinNames(file, has).length + twinNames(folder, has).length, file);
  }
});

test('of several twins that a site has, the usual name wins', () => {
  const has = hasOf(['a.html', 'a/index.md', 'a.html.md']);
  assert.equal(findTwin('a.html', has), 'a.html.md');
  assert.equal(findTwin('b.html', has), undefined);
});

test('a name means the page that has it', () => {
  const has = hasOf(words('index.html a.html a/index.html b/index.html c.html d/e.htm'));
  for (const [name, page] of [
    ['index.md', 'index.html'],
    ['index.html.md', 'index.html'],
    ['a.md', 'a.html'],
    ['a.html.md', 'a.html'],
    ['a/index.md', 'a/index.html'],
    ['a/index.html.md', 'a/index.html'],
    ['b.md', 'b/index.html'],
    ['b/index.html.md', 'b/index.html'],
    ['c.html.md', 'c.html'],
    ['c/index.html.md', 'c.html'],
    ['d/e.md', 'd/e.htm'],
    ['x.md', undefined],
    ['a.html', undefined],
    ['.md', undefined],
    ['', undefined],
  ] as const) {
    assert.equal(pageOfTwinName(name, has), page, name);
  }
});

test('whatever pages a site has, each of their names leads to a page with that name', () => {
  const part = fc.constantFrom('a', 'index', 'index.html', 'a.md', 'a.html');
  const path = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 3 }), fc.constantFrom('.html', '/index.html', '.htm'))
    .map(([parts, ending]) => parts.join('/') + ending);
  fc.assert(
    fc.property(fc.uniqueArray(path, { minLength: 1, maxLength: 6 }), (paths) => {
      const has = hasOf(paths);
      for (const page of paths) {
        for (const name of twinNames(page, has)) {
          const found = pageOfTwinName(name, has);
          assert.ok(found !== undefined && twinNames(found, has).includes(name), name);
        }
      }
    }),
  );
});
