// A bundle, its made files and its pages with lines read as one pack: every file whole and in every part, sorted as an index is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortFiles } from '#bundle/store/digest.ts';
import {
  type AdditionRows,
  type ExtendedIndex,
  extendIndex,
  packAdditions,
} from '#server/content/additions.ts';
import { createExtendedPack } from '#server/content/extended-pack.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import * as fc from '../../../support/properties.ts';
import { readText } from '../../../support/store-builder.ts';

const hashOf = (digit: string): string => digit.repeat(64);
const site = { 'a.html': '<head></head>a', 'b.css': 'p {}', 'c/index.html': '<head></head>c', 'd.html': 'd' };
const bundle = memoryBundle(site);
const made = memoryBundle({ '_sx/search/index.js': 'index', '_sx/search/words.js': 'words', 'e.md': '# e' });
const lines = '<line><other line>';
const ordinalOf = (path: string): number => bundle.index.files.findIndex((file) => file.path === path);

const rows: AdditionRows = {
  pages: [
    { ordinal: ordinalOf('a.html'), at: 6, lineAt: 0, lineSize: 6, sha256: hashOf('a') },
    { ordinal: ordinalOf('c/index.html'), at: 14, lineAt: 6, lineSize: 12, sha256: hashOf('c') },
  ],
  files: made.index.files,
  lines,
  packBytes: made.index.sizeBytes,
};

function extended(changed: Partial<AdditionRows> = {}): ExtendedIndex | undefined {
  const extending = extendIndex(bundle.index, packAdditions({ ...rows, ...changed }));
  for (let step = extending.next(); ; step = extending.next()) if (step.done === true) return step.value;
}

const whole = extended();
assert.ok(whole);
const pack = createExtendedPack(bundle, made, whole);

const expected: Readonly<Record<string, string>> = {
  ...site,
  'a.html': '<head><line></head>a',
  'c/index.html': '<head></head>c<other line>',
  '_sx/search/index.js': 'index',
  '_sx/search/words.js': 'words',
  'e.md': '# e',
};

test('an extended bundle has the files of the bundle and the made ones, in the order of an index', () => {
  const { files, digest, pages } = pack.index;
  assert.deepEqual(Object.fromEntries(files.map((file) => [file.path, readText(pack, file)])), expected);
  assert.deepEqual(files, sortFiles(files));
  assert.equal(digest, bundle.index.digest);
  assert.equal(pages, bundle.index.pages, 'made files are not pages');
  assert.equal(files.find(({ path }) => path === 'a.html')?.sha256, hashOf('a'));
});

test('each part of each file is that part of its bytes, read with a wait and without one', async () => {
  await fc.assertAsync(
    fc.asyncProperty(fc.nat(100), fc.nat(30), fc.nat(30), async (number, from, length) => {
      const { files } = pack.index;
      const file = files[number % files.length];
      assert.ok(file);
      const text = expected[file.path] ?? '';
      const start = Math.min(from, text.length);
      const part = { offset: file.offset + start, size: Math.min(length, text.length - start) };
      const read = Buffer.alloc(part.size);
      await pack.readInto(part, read);
      assert.equal(read.toString(), text.slice(start, start + part.size));
      assert.equal(readText(pack, part), read.toString());
    }),
    { numRuns: 500 },
  );
});

test('files of the bundle are still found where they were before it was extended', () => {
  for (const file of bundle.index.files)
    assert.equal(readText(pack, file), readText(bundle, file), file.path);
});

test('the start of a page is read without its line, because the line says nothing of its encoding', async () => {
  for (const [path, start] of [
    ['a.html', '<head></head>a      '],
    ['b.css', 'p {}'],
    ['_sx/search/index.js', 'index'],
  ] as const) {
    const file = pack.index.files.find((one) => one.path === path);
    assert.ok(file);
    const into = Buffer.alloc(file.size);
    await pack.readStart(file, into);
    assert.equal(into.toString(), start, path);
  }
});

test('nothing is read across the end of a page', () => {
  const file = pack.index.files.find(({ path }) => path === 'a.html');
  assert.ok(file);
  const beyond = { offset: file.offset + 1, size: file.size };
  assert.throws(() => pack.readIntoSync(beyond, Buffer.alloc(file.size)), RangeError);
  assert.throws(() => pack.readIntoSync(file, Buffer.alloc(3)), RangeError);
});

test('additions that are not of the bundle are refused', () => {
  const [page] = rows.pages;
  const [file] = rows.files;
  assert.ok(page && file);
  const wrong: Readonly<Record<string, Partial<AdditionRows>>> = {
    'a page behind the last one': { pages: [{ ...page, ordinal: 9 }] },
    'a line behind the end of its page': { pages: [{ ...page, at: 99 }] },
    'pages that are not in order': { pages: rows.pages.toReversed() },
    'a made file that the bundle has': { files: [{ ...file, path: 'a.html' }] },
  };
  for (const [what, changed] of Object.entries(wrong)) assert.equal(extended(changed), undefined, what);
});

test('closing it leaves the bundle open for its owner', async () => {
  const own = createExtendedPack(bundle, { ...made, close: async () => assert.fail('closed') }, whole);
  await assert.rejects(own.close(), /closed/);
  assert.equal(readText(bundle, bundle.index.files[0] ?? { offset: 0, size: 0 }), site['a.html']);
});
