// The program that pages load, as a file: its one word, its size, and what it may not hold. And which sites have a search of their own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { ownSearchOf, ownSearchWord } from '#site/search-program/own-search-files.ts';
import { searchEngineName, searchProgramFiles } from '#site/search-program/program-files.ts';
import { searchEngineText, searchProgramText } from '#site/search-program/program-text.ts';

const textOf = (ownSearch: 'none' | 'anywhere'): string =>
  Buffer.from(searchProgramFiles(ownSearch)[1]?.bytes ?? []).toString();

test('the program says what the site has, and is else the same', () => {
  const [none, anywhere] = [textOf('none'), textOf('anywhere')];
  assert.equal(none.includes(ownSearchWord), false);
  const [start = '', end = ''] = searchProgramText.split(ownSearchWord);
  assert.ok(none === `${start}"none"${end}` && anywhere === `${start}"anywhere"${end}`);
});

test('the program names the file of its engine', () => {
  const paths = searchProgramFiles('none').map(({ path }) => path);
  const engine = `_sx/search/${searchEngineName(searchEngineText)}.js`;
  assert.deepEqual(paths, ['_sx/search/none', '_sx/search/search.js', engine]);
  assert.ok(textOf('none').includes(`"${searchEngineName(searchEngineText)}"`));
});

test('what each page loads is at most 10 KiB in the best form that a server sends, and the engine 14 KiB', () => {
  assert.ok(brotliCompressSync(textOf('none')).byteLength <= 10 * 1024);
  assert.ok(brotliCompressSync(searchEngineText).byteLength <= 14 * 1024);
});

test('the programs are classic scripts that name no other host', () => {
  for (const program of [textOf('none'), searchEngineText]) {
    assert.equal(/\bimport\s*\(|\bimport\.meta|^export\b/m.test(program), false);
    const hosts = [...program.matchAll(/\bhttps?:\/\/([\w.]+)/g)].map(([, host]) => host);
    assert.deepEqual(
      hosts.filter((host) => host !== 'www.w3.org'),
      [],
    );
  }
});

for (const [paths, ownSearch] of [
  [['index.html', 'guide/index.html'], 'none'],
  [['index.html', 'pagefind/pagefind-entry.json'], 'served'],
  [['index.html', 'search/search_index.json'], 'served'],
  [['index.html', 'assets/chunks/@localSearchIndexroot.Bx1.js'], 'served'],
  [['index.html', 'searchindex.js'], 'anywhere'],
  [['index.html', 'searchindex-4f.js'], 'anywhere'],
  [['index.html', 'member-search-index.js'], 'anywhere'],
  [['index.html', 'api/search-index.js'], 'anywhere'],
] as const) {
  test(`the search of a site with ${paths.at(-1)}: ${ownSearch}`, () => {
    assert.equal(ownSearchOf(paths.map((path) => ({ path, size: 1 }))), ownSearch);
  });
}
