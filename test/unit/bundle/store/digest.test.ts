// The digest names the content, and pages are counted the way a visitor would.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { countPages, digestOf, sizeOf, sortFiles } from '#bundle/store/digest.ts';
import * as fc from '../../../support/properties.ts';
import { readBytes } from '../../../support/read-archive.ts';
import { tarOf } from '../../../support/tar-builder.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const file = (path: string, content = path) => ({ path, sha256: hashOf(content), offset: 0, size: 1 });

test('it is the SHA-256 of what sha256sum prints for the sorted files', () => {
  const text = `${hashOf('A')}  a.html\n${hashOf('B')}  b/é.html\n`;
  const files = sortFiles([file('b/é.html', 'B'), file('a.html', 'A')]);
  assert.equal(digestOf(files), hashOf(text));
});

test('it does not depend on order, only on names and bytes', async () => {
  const contents = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}(\/[a-z]{1,3})?\.html$/), fc.string(), {
    minKeys: 1,
    maxKeys: 8,
    noNullPrototype: true,
  });
  await fc.assertAsync(
    fc.asyncProperty(contents, fc.nat(), async (files, seed) => {
      const names = Object.keys(files);
      const rotated = Object.fromEntries(
        names.map((_, at) => {
          const name = names[(at + seed) % names.length] ?? '';
          return [name, files[name] ?? ''];
        }),
      );
      const { index } = await readBytes(tarOf(files));
      assert.equal((await readBytes(tarOf(rotated))).index.digest, index.digest);
      const [first = ''] = names;
      const changed = await readBytes(tarOf({ ...files, [first]: `${files[first]}!` }));
      assert.notEqual(changed.index.digest, index.digest);
      const more = await readBytes(tarOf({ ...files, 'more.txt': '' }));
      assert.notEqual(more.index.digest, index.digest);
    }),
    { numRuns: 40 },
  );
});

test('files are sorted by UTF-16 code units', () => {
  const paths = ['b', 'a/b', 'a', 'a.b', 'ä', 'Z', '\u{1f600}', '\uffee'];
  assert.deepEqual(
    sortFiles(paths.map((path) => file(path))).map(({ path }) => path),
    [...paths].sort(),
  );
});

const pageTable: readonly (readonly [number, readonly string[]])[] = [
  [0, []],
  [1, ['index.html']],
  [1, ['guide.html', 'guide/index.html']],
  [2, ['guide.html', 'guide/index.html', 'index.html']],
  [2, ['guide/index.html', 'guide/a.HTM']],
  [0, ['404.html', 'guides/404.html', '404/index.html']],
  [1, ['4040.html']],
  [0, ['a.css', 'a.html.txt', '_headers', 'html']],
  [2, ['myindex.html', 'my/index.html']],
  [1, ['index.html', '.x/index.html', '._index.html', '__MACOSX/a.html', 'a/.html']],
  [1, ['.well-known/a.html']],
];
for (const [pages, paths] of pageTable) {
  test(`${paths.join(', ') || 'nothing'}: ${pages} pages`, () => {
    assert.equal(countPages(paths.map((path) => ({ path }))), pages);
  });
}

test('the size is the sum of the files’ sizes', () => {
  assert.equal(sizeOf([{ size: 3 }, { size: 0 }, { size: 4 }]), 7);
});
