// Packs that would take more memory than their bytes show are refused before anything is inflated whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { checkPack, PackRefused } from '../../../src/git/pack-guard.ts';
import * as fc from '../../support/properties.ts';

const limits = { maxObjectBytes: 10_000, maxObjects: 100 };

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

const objectOf = (
  content: Buffer,
  { type = 3, declared = content.length, base = Buffer.alloc(0) } = {},
): Buffer => Buffer.concat([sizeBytes(declared, 4, type << 4), base, deflateSync(content)]);

function packOf(objects: readonly Buffer[], count = objects.length): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  return Buffer.concat([header, ...objects, Buffer.alloc(20)]);
}

const whyOf = (pack: Buffer): string => {
  try {
    checkPack(pack, limits);
    return 'accepted';
  } catch (error) {
    return error instanceof PackRefused ? error.why : String(error);
  }
};

test('objects within the bounds are accepted, whatever their sizes', () => {
  const content = fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.array(content, { maxLength: 20 }), (contents) => {
      assert.equal(whyOf(packOf(contents.map((one) => objectOf(one)))), 'accepted');
    }),
  );
  const delta = Buffer.concat([sizeBytes(300, 7), sizeBytes(9000, 7), Buffer.from([0x91, 0, 9])]);
  const offset = objectOf(delta, { type: 6, base: Buffer.from([0x81, 0x05]) });
  const reference = objectOf(delta, { type: 7, base: Buffer.alloc(20, 7) });
  assert.equal(whyOf(packOf([offset, reference])), 'accepted');
});

test('an object, a hidden rest of one, and the result of a delta are bounded', () => {
  const large = Buffer.alloc(10_001);
  assert.equal(whyOf(packOf([objectOf(large)])), 'ObjectTooLarge');
  assert.equal(whyOf(packOf([objectOf(Buffer.alloc(50_000), { declared: 100 })])), 'DamagedPack');
  assert.equal(whyOf(packOf([objectOf(Buffer.alloc(10), { declared: 100 })])), 'DamagedPack');
  const delta = Buffer.concat([sizeBytes(10, 7), sizeBytes(1e9, 7), Buffer.from([1])]);
  assert.equal(whyOf(packOf([objectOf(delta, { type: 7, base: Buffer.alloc(20) })])), 'ObjectTooLarge');
  assert.equal(whyOf(packOf([], 101)), 'TooManyObjects');
});

test('whatever bytes come, the check ends with a verdict', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 3 }), (bytes, count) => {
      assert.notEqual(whyOf(packOf([Buffer.from(bytes)], count)), '');
    }),
  );
  const pack = packOf([objectOf(Buffer.from('abc'.repeat(100)))]);
  for (let length = 0; length < pack.length - 20; length += 1) {
    assert.equal(whyOf(pack.subarray(0, length)), 'DamagedPack', `${length}`);
  }
});
