// Packs built here byte by byte: objects and deltas by their ids, in any order, and bounds of objects, work and memory.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { PackRefused } from '#operator/git/pack-refused.ts';
import { type PackLimits, PackStore } from '#operator/git/pack-store.ts';
import * as fc from '../../../support/properties.ts';

const limits: PackLimits = {
  maxObjectBytes: 10_000,
  maxObjects: 100,
  maxResolvedBytes: 1_000_000,
  maxKeptBytes: 5_000,
};

/** `firstBits` of the first byte count, and seven of each that follows. */
function sizeBytes(size: number, firstBits: number, flags = 0): Buffer {
  const bytes: number[] = [];
  let rest = Math.floor(size / 2 ** firstBits);
  bytes.push(flags | (size % 2 ** firstBits) | (rest > 0 ? 0x80 : 0));
  while (rest > 0) {
    const next = Math.floor(rest / 128);
    bytes.push((rest % 128) | (next > 0 ? 0x80 : 0));
    rest = next;
  }
  return Buffer.from(bytes);
}

interface PackedAs {
  readonly type: number;
  readonly declared: number;
  readonly base: Buffer;
}

const objectOf = (
  content: Buffer,
  { type = 3, declared = content.length, base = Buffer.alloc(0) }: Partial<PackedAs> = {},
): Buffer => Buffer.concat([sizeBytes(declared, 4, type << 4), base, deflateSync(content)]);

function packOf(objects: readonly Buffer[], count = objects.length): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  return Buffer.concat([header, ...objects, Buffer.alloc(20)]);
}

const idOf = (content: Buffer, type = 'blob'): string =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');

/** Copies the beginning of the base, and adds bytes. */
function deltaOf(base: Buffer, copied: number, added: Buffer): Buffer {
  const copy = copied === 0 ? [] : [0x80 | 0x10 | 0x20, copied & 255, copied >> 8];
  const insert = added.length === 0 ? [] : [added.length];
  return Buffer.concat([
    sizeBytes(base.length, 7),
    sizeBytes(copied + added.length, 7),
    Buffer.from([...copy, ...insert]),
    added,
  ]);
}

/** How far back the base of a delta starts, as a pack says it. */
function backBytes(back: number): Buffer {
  const bytes = [back & 127];
  for (let rest = back >> 7; rest > 0; rest >>= 7) {
    rest -= 1;
    bytes.unshift(0x80 | (rest & 127));
  }
  return Buffer.from(bytes);
}

function storeOf(packs: readonly Buffer[], changed: Partial<PackLimits> = {}): PackStore {
  const store = new PackStore({ ...limits, ...changed });
  for (const pack of packs) store.add(pack);
  return store;
}

const whyOf = (pack: Buffer, changed: Partial<PackLimits> = {}): string => {
  try {
    storeOf([pack], changed);
    return 'accepted';
  } catch (error) {
    return error instanceof PackRefused ? error.why : String(error);
  }
};

test('objects are read by their ids, whatever their sizes and types', () => {
  const content = fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.array(content, { maxLength: 20 }), (contents) => {
      const store = storeOf([packOf(contents.map((one) => objectOf(one)))]);
      for (const one of contents)
        assert.equal(Buffer.from(store.read(idOf(one))?.content ?? []).compare(one), 0);
    }),
  );
  const tree = Buffer.from('40000 a\0');
  const store = storeOf([packOf([objectOf(tree, { type: 2 })])]);
  assert.equal(store.read(idOf(tree, 'tree'))?.type, 'tree');
  assert.equal(store.has(idOf(tree)), false);
  assert.equal(store.read('0'.repeat(40)), undefined);
});

test('a chain of deltas by place, by id and across packs gives each object, in any order', () => {
  const contents: Buffer[] = [Buffer.from('the first line\n')];
  for (let at = 1; at < 60; at += 1)
    contents.push(Buffer.concat([contents[at - 1] ?? Buffer.alloc(0), Buffer.from(`line ${at}\n`)]));
  const [first = Buffer.alloc(0)] = contents;
  const deltas = contents.slice(1).map((content, at) => {
    const base = contents[at] ?? first;
    return { base, delta: deltaOf(base, base.length, content.subarray(base.length)) };
  });
  const byId = deltas.map(({ base, delta }) =>
    objectOf(delta, { type: 7, base: Buffer.from(idOf(base), 'hex') }),
  );
  const inOrder = packOf([objectOf(first), ...byId]);
  const reversed = packOf([...byId.toReversed(), objectOf(first)]);
  const byPlace: Buffer[] = [objectOf(first)];
  for (const { delta } of deltas) {
    const previous = byPlace.at(-1) ?? first;
    byPlace.push(objectOf(delta, { type: 6, base: backBytes(previous.length) }));
  }
  const enough = { maxResolvedBytes: 100_000_000 };
  const stores = [
    storeOf([inOrder], enough),
    storeOf([reversed], enough),
    storeOf([packOf(byPlace)], enough),
    storeOf([packOf([objectOf(first)]), packOf(byId)], enough),
    storeOf([inOrder], { ...enough, maxKeptBytes: 0 }),
  ];
  for (const store of stores)
    for (const content of contents)
      assert.equal(Buffer.from(store.read(idOf(content))?.content ?? []).toString(), content.toString());
});

test('places far back are read as git writes them', () => {
  for (const size of [100, 127, 128, 129, 16_000, 16_511, 16_512, 17_000]) {
    const first = objectOf(Buffer.from('base'));
    // Bytes that no compression makes smaller, so that the places are far apart.
    const far = objectOf(
      Buffer.from(
        fc.sample(fc.uint8Array({ minLength: size, maxLength: size }), { seed: 1, numRuns: 1 })[0] ?? [],
      ),
    );
    const delta = deltaOf(Buffer.from('base'), 4, Buffer.from('!'));
    const pack = packOf([
      first,
      far,
      objectOf(delta, { type: 6, base: backBytes(first.length + far.length) }),
    ]);
    const store = storeOf([pack], { maxObjectBytes: 20_000 });
    assert.equal(Buffer.from(store.read(idOf(Buffer.from('base!')))?.content ?? []).toString(), 'base!');
  }
});

test('an object, a hidden rest of one, and the result of a delta are bounded', () => {
  assert.equal(whyOf(packOf([objectOf(Buffer.alloc(10_001))])), 'ObjectTooLarge');
  assert.equal(whyOf(packOf([objectOf(Buffer.alloc(50_000), { declared: 100 })])), 'DamagedPack');
  assert.equal(whyOf(packOf([objectOf(Buffer.alloc(10), { declared: 100 })])), 'DamagedPack');
  const delta = Buffer.concat([sizeBytes(10, 7), sizeBytes(1e9, 7), Buffer.from([1])]);
  assert.equal(whyOf(packOf([objectOf(delta, { type: 7, base: Buffer.alloc(20) })])), 'ObjectTooLarge');
  assert.equal(whyOf(packOf([], 101)), 'TooManyObjects');
});

test('what all objects resolve to together is bounded, however small the pack', () => {
  const base = Buffer.alloc(9_000);
  const deltas = Array.from({ length: 90 }, (_, at) =>
    objectOf(deltaOf(base, base.length, Buffer.from([at, at, at])), {
      type: 7,
      base: Buffer.from(idOf(base), 'hex'),
    }),
  );
  const pack = packOf([objectOf(base), ...deltas]);
  assert.ok(pack.length < 6_000, `${pack.length} bytes`);
  assert.equal(whyOf(pack, { maxKeptBytes: 20_000 }), 'accepted');
  assert.equal(whyOf(pack, { maxKeptBytes: 20_000, maxResolvedBytes: 800_000 }), 'TooMuchWork');
  assert.equal(whyOf(pack, { maxKeptBytes: 0 }), 'TooMuchWork');
});

test('the work of a long chain whose deltas come before their bases follows its length', () => {
  const count = 2_000;
  const name = (at: number): Buffer => Buffer.from(String(at).padStart(8, '0'));
  const deltas = Array.from({ length: count }, (_, at) =>
    objectOf(deltaOf(name(at), 0, name(at + 1)), { type: 7, base: Buffer.from(idOf(name(at)), 'hex') }),
  );
  const pack = packOf([...deltas.toReversed(), objectOf(name(0))]);
  const store = storeOf([pack], { maxObjects: 5_000, maxResolvedBytes: 2_000 * count });
  assert.equal(Buffer.from(store.read(idOf(name(count)))?.content ?? []).toString(), name(count).toString());
});

test('small objects take no more memory than the bound of what is kept', () => {
  const count = 20_000;
  const pack = packOf(Array.from({ length: count }, (_, at) => objectOf(Buffer.from(`${at}`.padEnd(40)))));
  const before = process.memoryUsage().arrayBuffers;
  const maxKeptBytes = 20_000_000;
  const store = storeOf([pack], { maxObjects: count, maxResolvedBytes: 1e9, maxKeptBytes });
  const taken = process.memoryUsage().arrayBuffers - before;
  assert.ok(taken < maxKeptBytes, `${taken} bytes`);
  assert.ok(store.has(idOf(Buffer.from('1'.padEnd(40)))));
});

test('reading again and again counts against the same bound', () => {
  const content = Buffer.alloc(9_000, 1);
  const store = storeOf([packOf([objectOf(content)])], { maxKeptBytes: 0, maxResolvedBytes: 100_000 });
  assert.throws(
    () => {
      for (let at = 0; at < 20; at += 1) store.read(idOf(content));
    },
    { why: 'TooMuchWork' },
  );
});

for (const [name, delta] of [
  ['of another base', deltaOf(Buffer.alloc(5), 4, Buffer.from('!'))],
  ['that copies behind its base', deltaOf(Buffer.from('base'), 5, Buffer.alloc(0))],
  ['that makes less than it says', Buffer.from([4, 9, 1, 33])],
  ['that makes more than it says', Buffer.from([4, 0, 1, 33])],
  ['with a reserved instruction', Buffer.from([4, 1, 0])],
  ['that ends within its bytes', Buffer.from([4, 9, 9, 33])],
] as const) {
  test(`a delta ${name} is damage`, () => {
    const base = Buffer.from('base');
    const pack = packOf([objectOf(base), objectOf(delta, { type: 7, base: Buffer.from(idOf(base), 'hex') })]);
    assert.equal(whyOf(pack), 'DamagedPack');
  });
}

test('a delta without its base, of itself, or of what starts after it, is damage', () => {
  const delta = deltaOf(Buffer.from('base'), 4, Buffer.alloc(0));
  assert.equal(whyOf(packOf([objectOf(delta, { type: 7, base: Buffer.alloc(20, 7) })])), 'DamagedPack');
  assert.equal(whyOf(packOf([objectOf(delta, { type: 6, base: Buffer.from([0]) })])), 'DamagedPack');
  assert.equal(whyOf(packOf([objectOf(delta, { type: 6, base: backBytes(5_000) })])), 'DamagedPack');
});

test('whatever bytes come, the reading ends with a verdict', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 3 }), (bytes, count) => {
      assert.match(whyOf(packOf([Buffer.from(bytes)], count)), /^(?:accepted|[A-Z][A-Za-z]+)$/);
    }),
  );
  const pack = packOf([objectOf(Buffer.from('abc'.repeat(100)))]);
  for (let length = 0; length < pack.length - 20; length += 1) {
    assert.equal(whyOf(pack.subarray(0, length)), 'DamagedPack', `${length}`);
  }
});
