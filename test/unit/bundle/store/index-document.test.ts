// The stored index is what was written, and true of itself, or it is nothing.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { isHeld, noBytes } from '#bundle/bundle-index.ts';
import { countPages, digestOf, sizeOf, sortFiles } from '#bundle/store/digest.ts';
import { formatIndex, type IndexDocument, parseIndex, sealText } from '#bundle/store/index-document.ts';
import * as fc from '../../../support/properties.ts';

const hashes = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('hex'));
const entries = fc.uniqueArray(
  fc.record({ path: fc.string({ minLength: 1, unit: 'grapheme' }), size: fc.nat(5000), sha256: hashes }),
  { selector: ({ path }) => path, minLength: 1, maxLength: 12 },
);
const documents: fc.Arbitrary<IndexDocument> = entries.map((list) => {
  let offset = 0;
  const files = sortFiles(
    list.map((entry) => {
      offset += entry.size;
      return { ...entry, offset: offset - entry.size };
    }),
  );
  const notes = [{ code: 'DuplicateReplaced', count: 2, example: '"a\\u{a}b"' }];
  const facts = { digest: digestOf(files), pages: countPages(files), sizeBytes: sizeOf(files), notes };
  return { index: { ...facts, files }, packBytes: offset + 7 };
});

test('what was written is read back', () => {
  fc.assert(
    fc.property(documents, (document) => assert.deepEqual(parseIndex(formatIndex(document)), document)),
  );
});

const withData = (isData: boolean): IndexDocument => {
  const sha256 = 'a'.repeat(64);
  const files = ['api/index.html', 'index.html'].map((path, at) => ({
    ...{ path, offset: 0, size: 0, sha256 },
    ...(isData && at === 0 && { isData: true as const }),
  }));
  const facts = { digest: digestOf(files), pages: countPages(files), sizeBytes: 0, notes: [] };
  return { index: { ...facts, files }, packBytes: 0 };
};

test('files that hold JSON are remembered, and readers of the paths alone count as before', () => {
  const [marked, unmarked] = [withData(true), withData(false)];
  assert.deepEqual([marked.index.pages, unmarked.index.pages], [1, 2]);
  assert.deepEqual(parseIndex(formatIndex(marked)), marked);
  assert.deepEqual(parseIndex(formatIndex(unmarked)), unmarked);
  const [, written = ''] = formatIndex(marked).split('\n');
  const { data, ...known } = JSON.parse(written);
  assert.deepEqual(data, [0]);
  assert.equal(known.pages, 2, 'an earlier version checks this number against the paths');
  const [, earlier = ''] = formatIndex(unmarked).split('\n');
  assert.deepEqual(known, JSON.parse(earlier));
});

const withTypes = (typed: readonly (string | undefined)[]): IndexDocument => {
  const sha256 = 'a'.repeat(64);
  const files = typed.map((type, at) => ({
    ...{ path: `f${`${at}`.padStart(3, '0')}`, offset: 0, size: 0, sha256 },
    ...(type !== undefined && { type }),
  }));
  const facts = { digest: digestOf(files), pages: 0, sizeBytes: 0, notes: [] };
  return { index: { ...facts, files }, packBytes: 0 };
};
const kinds = ['application/rss+xml', 'text/plain; charset=koi8-r', undefined];

test('types that an export kept are remembered, and an index without them is written as before', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 40 }), (typed) => {
      const document = withTypes(typed);
      assert.deepEqual(parseIndex(formatIndex(document)), document);
      const { types, ...known } = JSON.parse(formatIndex(document).split('\n')[1] ?? '');
      assert.equal(
        types !== undefined,
        typed.some((type) => type !== undefined),
      );
      const untyped = formatIndex(withTypes(typed.map(() => undefined)));
      assert.deepEqual(
        known,
        JSON.parse(untyped.split('\n')[1] ?? ''),
        'earlier versions read past the types',
      );
      assert.ok(!untyped.includes('types'));
    }),
  );
});

test('types of an index that may not be sent are passed over, and rows that it does not have are refused', () => {
  const read = (types: unknown): readonly (string | undefined)[] | undefined => {
    const [, json = ''] = formatIndex(withTypes([undefined, undefined])).split('\n');
    return parseIndex(
      sealText('static-export-index/2', JSON.stringify({ ...JSON.parse(json), types })),
    )?.index.files.map(({ type }) => type);
  };
  assert.deepEqual(read({ 'text/html': [0, 2], 'text/plain': [1, 1] }), [undefined, 'text/plain']);
  assert.deepEqual(read({ 'text/plain\r\nx: y': [0, 2] }), [undefined, undefined]);
  for (const runs of [[0], [0, 0], [1, 2], [2, 1], [0, 2 ** 52], Array(40_004).fill(1), [-1, 1], ['0', 1]]) {
    assert.equal(read({ 'text/plain': runs }), undefined, `${runs}`.slice(0, 20));
  }
});

test('an index with one character changed, removed or added is refused', () => {
  fc.assert(
    fc.property(documents, fc.nat(), fc.constantFrom('', 'x', '0', '\n', '""'), (document, seed, put) => {
      const text = formatIndex(document);
      const at = seed % text.length;
      const changed = `${text.slice(0, at)}${put}${text.slice(at + 1)}`;
      fc.pre(changed !== text);
      assert.equal(parseIndex(changed), undefined);
      assert.equal(parseIndex(`${text}${put || 'y'}`), undefined);
    }),
    { numRuns: 300 },
  );
});

const [sample = assert.fail()] = fc.sample(documents, { numRuns: 1, seed: 1 });
const rewritten = (change: (json: Record<string, unknown>) => object): string => {
  const json = JSON.stringify(change(JSON.parse(formatIndex(sample).split('\n')[1] ?? '')));
  return `static-export-index/2 ${createHash('sha256').update(json).digest('hex')}\n${json}\n`;
};

test('an index with a right hash and wrong sums is refused', () => {
  assert.deepEqual(parseIndex(rewritten((json) => json)), sample);
  for (const change of [
    { digest: 'ab'.repeat(32) },
    { pages: sample.index.pages + 1 },
    { sizeBytes: sample.index.sizeBytes + 1 },
    { packBytes: 0, files: [['a', 0, 5, 'ab'.repeat(32)]] },
    { files: [['a', -1, 5, 'ab'.repeat(32)]] },
    { files: [['a', 0, 5, 'AB']] },
    { files: [['a', 0, 0.5, 'ab'.repeat(32)]] },
    { files: [['a', 0, 5, 'ab'.repeat(32), 1]] },
    { files: [[1, 0, 5, 'ab'.repeat(32)]] },
    { files: [{ path: 'a' }] },
    { files: 'none' },
  ]) {
    assert.equal(
      parseIndex(rewritten((json) => ({ ...json, ...change }))),
      undefined,
      JSON.stringify(change),
    );
  }
});

test('texts of other formats are refused', () => {
  const hash = createHash('sha256').update('no json').digest('hex');
  for (const text of [
    '',
    '\n',
    '{}',
    'static-export-index/2 x\n{}\n',
    `static-export-index/2 ${hash}\nno json\n`,
  ]) {
    assert.equal(parseIndex(text), undefined);
  }
});

test('which rows have no bytes is kept, and follows from the names in an index of an earlier version', () => {
  const [row] = [{ path: '', offset: 0, size: 4, sha256: 'ab'.repeat(32) }];
  const files = ['.env', 'Thumbs.db', '_headers', 'index.html', 'tags/.net/index.html'].map((path, at) => ({
    ...{
      ...row,
      path,
      offset: path === 'Thumbs.db' ? 0 : path === 'index.html' ? 4 : at === 4 ? 8 : noBytes,
    },
  }));
  const sums = { digest: digestOf(files), pages: 1, sizeBytes: sizeOf(files), notes: [] };
  const document = { index: { ...sums, files }, packBytes: 12 };
  const text = formatIndex(document);
  assert.deepEqual(parseIndex(text), document);
  const earlier = JSON.stringify({ ...JSON.parse(text.split('\n')[1] ?? ''), marksNoBytes: undefined });
  const hash = createHash('sha256').update(earlier).digest('hex');
  const read = parseIndex(`static-export-index/2 ${hash}\n${earlier}\n`)?.index;
  assert.deepEqual(
    read?.files.filter(isHeld).map(({ path }) => path),
    ['Thumbs.db', 'index.html'],
  );
  assert.equal(read?.pages, 1);
});
