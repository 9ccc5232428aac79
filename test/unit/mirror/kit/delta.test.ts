// A delta makes any bundle from any other, with the digest of the whole one. A delta that does not fit is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { defaultLimits } from '#bundle/limits.ts';
import { endOfRecords, formatRecord, largestPatched } from '#mirror/kit/delta.ts';
import { applyDelta } from '#mirror/kit/delta-reader.ts';
import { deltaBytes } from '#mirror/kit/delta-writer.ts';
import { type MemorySite, memoryBundle, memoryPack } from '../../../support/memory-bundle.ts';
import * as fc from '../../../support/properties.ts';
import { words } from '../../../support/words.ts';

const never = new AbortController().signal;

async function deltaOf(site: MemorySite, base: MemorySite): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of deltaBytes(memoryBundle(site), memoryBundle(base), () => {}, never)) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const apply = async (delta: Buffer, site: MemorySite, base: MemorySite, pieceBytes = 1000) => {
  const pack = memoryPack();
  const { digest } = memoryBundle(site).index;
  const sink = { limits: defaultLimits, pack };
  const index = await applyDelta(inPieces(delta, pieceBytes), digest, memoryBundle(base), sink);
  return { index, bytes: pack.bytes() };
};

const page = (text: string): string =>
  `<!doctype html><title>${text}</title>${'<p>the same</p>'.repeat(500)}${text}`;
const base: MemorySite = {
  'index.html': page('home'),
  'a.html': page('a'),
  'assets/app.1a2b3c4d.js': 'export const a = 1;'.repeat(200),
  'big.bin': Buffer.alloc(5000, 7),
  '.hidden': 'not in a store',
};

test('a delta gives the bytes and the digest of the whole bundle', async () => {
  const site = { ...base, 'a.html': page('b'), 'new.html': page('new'), '.hidden': 'not in a store' };
  const { index, bytes } = await apply(await deltaOf(site, base), site, base);
  assert.equal(index.digest, memoryBundle(site).index.digest);
  for (const { path, offset, size } of index.files) {
    assert.deepEqual(bytes.subarray(offset, offset + size), Buffer.from(Object(site)[path]), path);
  }
});

test('any two sites: the delta arrives at the digest', async () => {
  const name = fc.constantFrom(...words('index.html a.html app.1a2b3c4d.js app.99ffeedd.js app.js .env d/e'));
  const trained = fc.constant(Buffer.from([0x37, 0xa4, 0x30, 0xec, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  const content = fc.oneof(
    fc.string().map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    trained,
    fc.nat({ max: 3 }).map((n) => Buffer.from(page(`${n}`))),
  );
  const site = fc.dictionary(name, content, { minKeys: 1, noNullPrototype: true });
  await fc.assertAsync(
    fc.asyncProperty(site, site, fc.integer({ min: 1, max: 64 }), async (next, before, pieceBytes) => {
      const { index } = await apply(await deltaOf(next, before), next, before, pieceBytes);
      assert.equal(index.digest, memoryBundle(next).index.digest);
    }),
    { numRuns: 300 },
  );
});

test('the same two sites give the same delta', async () => {
  const site = { ...base, 'a.html': page('b') };
  assert.deepEqual(await deltaOf(site, base), await deltaOf(site, base));
});

test('a page that changes costs a fraction, also of a file of several megabytes', async () => {
  const noise = (seed: number, length: number): string => {
    let state = seed;
    const next = (): number => (state = (state * 48271) % 2147483647);
    return Array.from({ length }, () => String.fromCharCode(32 + (next() % 90))).join('');
  };
  const large = noise(1, 3_000_000);
  const before = { 'index.html': noise(2, 60_000), 'search.json': large };
  const edited = `x${large.slice(0, 1_500_000)}edited${large.slice(1_500_000)}`;
  const site = { 'index.html': `${before['index.html']}edited`, 'search.json': edited };
  assert.ok((await deltaOf(site, before)).length < 2000);
});

test('a renamed file and a file with another content hash cost no content', async () => {
  const code = 'export const a = 1;'.repeat(200);
  const site = {
    'moved/index.html': page('home'),
    'assets/app.ffee0011.js': code.replace('1', '2'),
    'index.html': page('home'),
  };
  assert.ok((await deltaOf(site, base)).length < 400);
  assert.equal((await apply(await deltaOf(site, base), site, base)).index.files.length, 3);
});

test('hidden files are whole, because a server’s store has no bytes of them', async () => {
  const site = { ...base, '.other': 'not in a store' };
  const shown = memoryBundle(base);
  const stored = {
    ...shown,
    index: {
      ...shown.index,
      files: shown.index.files.map((f) => (f.path.startsWith('.') ? { ...f, offset: 1e9 } : f)),
    },
  };
  const sink = { limits: defaultLimits, pack: memoryPack() };
  const { digest } = memoryBundle(site).index;
  const index = await applyDelta(inPieces(await deltaOf(site, base), 100), digest, stored, sink);
  assert.equal(index.digest, digest);
});

test('another base is refused by the digest, or by a patch that does not fit', async () => {
  const site = { ...base, 'a.html': page('b') };
  const delta = await deltaOf(site, base);
  await assert.rejects(apply(delta, site, { ...base, 'index.html': page('hone') }), {
    code: 'DigestMismatch',
  });
  await assert.rejects(apply(delta, site, { ...base, 'a.html': 'other' }), { code: 'KitDamaged' });
  await assert.rejects(apply(delta, site, { 'b.html': 'x' }), { code: 'KitDamaged' });
});

test('a delta that is cut off at any byte is refused', async () => {
  const site = { 'index.html': 'hello there', 'a.html': 'x' };
  const before = { 'index.html': 'hello' };
  const records = zstdDecompressSync(await deltaOf(site, before));
  for (let length = 0; length < records.length; length += 1) {
    await assert.rejects(apply(zstdCompressSync(records.subarray(0, length)), site, before), `${length}`);
  }
});

const refused: readonly (readonly [what: string, records: readonly Buffer[]])[] = [
  ['bytes after its end', [formatRecord({ path: 'a', size: 0 }), endOfRecords, Buffer.from('x')]],
  ['a header beyond its limit', [Buffer.from([0xff, 0xff, 0xff, 0x7f])]],
  ['a header that is not JSON', [Buffer.from([1, 0, 0, 0]), Buffer.from('x')]],
  ['a patch without a base', [formatRecord({ path: 'a', size: 1, patch: 1 }), Buffer.from('x')]],
  [
    'a patch beyond its limit',
    [formatRecord({ path: 'a', size: largestPatched + 1, from: 'index.html', patch: 1 })],
  ],
  ['a hidden file of the base', [formatRecord({ path: 'a', size: 14, from: '.hidden' }), endOfRecords]],
  ['a path with ..', [formatRecord({ path: '../a', size: 0 }), endOfRecords]],
  ['a size that is not the base’s', [formatRecord({ path: 'a', size: 3, from: 'index.html' }), endOfRecords]],
];
for (const [what, records] of refused) {
  test(`a delta with ${what} is refused`, async () => {
    await assert.rejects(apply(zstdCompressSync(Buffer.concat(records)), { a: '' }, base), (error: Error) => {
      assert.match(String(Object(error).code), /^(?:KitDamaged|ParentPath|InvalidSize)$/);
      return true;
    });
  });
}

test('a patch that unpacks to more than its size is refused before it takes the memory', async () => {
  const bomb = zstdCompressSync(Buffer.alloc(200 * 1024 * 1024), {
    dictionary: Buffer.from(base['a.html'] ?? ''),
  });
  const records = [
    formatRecord({ path: 'a', size: 10, from: 'a.html', patch: bomb.length }),
    bomb,
    endOfRecords,
  ];
  await assert.rejects(apply(zstdCompressSync(Buffer.concat(records)), { a: '' }, base), {
    code: 'KitDamaged',
  });
});
