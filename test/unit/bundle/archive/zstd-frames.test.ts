// The borders of zstd frames, found without decompressing, in whatever pieces the bytes come.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { createFrameScanner } from '#bundle/archive/zstd-frames.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { noise } from '../../../support/noise.ts';
import * as fc from '../../../support/properties.ts';

const skippable = (length: number): Buffer => {
  const head = Buffer.alloc(8 + length, 7);
  head.writeUInt32LE(0x184d2a5e, 0);
  head.writeUInt32LE(length, 4);
  return head;
};
const params = { [constants.ZSTD_c_checksumFlag]: 1 };
const frames: readonly Buffer[] = [
  zstdCompressSync(''),
  zstdCompressSync('x'),
  zstdCompressSync(Buffer.alloc(400_000, 'rle')),
  zstdCompressSync(noise(200_000)),
  zstdCompressSync(noise(300), { params }),
  zstdCompressSync(Buffer.alloc(70_000, 'text '), { params }),
  skippable(0),
  skippable(300),
];

test('each frame is found whole, one after another', () => {
  const order = fc.array(fc.nat(frames.length - 1), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(order, fc.integer({ min: 1, max: 100_000 }), (list, pieceBytes) => {
      const wanted = list.map((at) => frames[at] ?? Buffer.alloc(0));
      const all = Buffer.concat(wanted);
      const step = Math.max(pieceBytes, Math.ceil(all.length / 500));
      const scanner = createFrameScanner(defaultLimits);
      const found: Buffer[] = [];
      let open: Buffer[] = [];
      for (let at = 0; at < all.length; at += step) {
        for (const piece of scanner.feed(all.subarray(at, at + step))) {
          open.push(piece.bytes);
          if (piece.endsFrame) found.push(Buffer.concat(open));
          if (piece.endsFrame) open = [];
        }
      }
      assert.ok(scanner.isBetweenFrames);
      assert.deepEqual(open, []);
      assert.equal(found.length, wanted.length);
      assert.ok(found.every((frame, at) => wanted[at]?.equals(frame)));
    }),
    { numRuns: 60 },
  );
});

test('a frame that was found decompresses by itself', () => {
  const [first] = createFrameScanner(defaultLimits).feed(
    Buffer.concat([zstdCompressSync('one'), zstdCompressSync('two')]),
  );
  assert.equal(zstdDecompressSync(first?.bytes ?? Buffer.alloc(0)).toString(), 'one');
});

test('other bytes where a frame should begin are refused', () => {
  for (const [bytes, code] of [
    [Buffer.concat([zstdCompressSync('x'), Buffer.from('junk')]), 'DataAfterEnd'],
    [Buffer.from('junk'), 'CorruptArchive'],
  ] as const) {
    assert.throws(() => createFrameScanner(defaultLimits).feed(bytes), { code });
  }
});

test('random bytes never hang it and throw nothing foreign', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (tail) => {
      const bytes = Buffer.concat([Buffer.from('28b52ffd', 'hex'), tail]);
      const scanner = createFrameScanner(defaultLimits);
      try {
        const pieces = scanner.feed(bytes);
        const given = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
        assert.equal(given, bytes.length);
      } catch (error) {
        assert.ok(error instanceof PublishableError);
      }
    }),
    { numRuns: 300 },
  );
});

test('no more frames than allowed, those that hold nothing included, however they come', () => {
  const limits = { maxFrames: 3 };
  for (const frame of [skippable(0), zstdCompressSync('x')]) {
    const all = Buffer.concat([frame, frame, frame]);
    assert.equal(createFrameScanner(limits).feed(all).length, 3);
    assert.throws(() => createFrameScanner(limits).feed(Buffer.concat([all, frame])), {
      code: 'TooManyFrames',
    });
  }
});
