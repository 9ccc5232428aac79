// One range of bytes, and every shape of the header that ended another server's process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ByteRange, readByteRange } from '#server/http/byte-range.ts';
import * as fc from '../../../support/properties.ts';

const whole: ByteRange = { kind: 'whole' };
const unsatisfiable: ByteRange = { kind: 'unsatisfiable' };
const part = (start: number, endExclusive: number): ByteRange => ({ kind: 'part', start, endExclusive });

const rows: readonly (readonly [string | undefined, number, ByteRange])[] = [
  [undefined, 10, whole],
  ['bytes=0-0', 10, part(0, 1)],
  ['bytes=0-9', 10, part(0, 10)],
  ['bytes=3-5', 10, part(3, 6)],
  ['bytes=3-', 10, part(3, 10)],
  ['bytes=3-99', 10, part(3, 10)],
  ['bytes=-5', 10, part(5, 10)],
  ['bytes=-10', 10, part(0, 10)],
  ['bytes=-9999', 10, part(0, 10)],
  ['BYTES=0-1', 10, part(0, 2)],
  [' bytes = 0-1 ', 10, part(0, 2)],
  ['bytes=10-', 10, unsatisfiable],
  ['bytes=10-20', 10, unsatisfiable],
  ['bytes=-0', 10, unsatisfiable],
  ['bytes=0-', 0, unsatisfiable],
  ['bytes=-1', 0, unsatisfiable],
  ['bytes=0-18446744073709551615', 10, part(0, 10)],
  ['bytes=18446744073709551615-', 10, unsatisfiable],
  ['bytes=18446744073709551615-18446744073709551614', 10, whole],
  [`bytes=${'9'.repeat(5000)}-`, 10, unsatisfiable],
  [`bytes=-${'9'.repeat(5000)}`, 10, part(0, 10)],
  ['bytes=5-2', 10, whole],
  ['bytes=0-1,3-4', 10, whole],
  ['bytes=0-1, bytes=3-4', 10, whole],
  ['bytes=-', 10, whole],
  ['bytes=', 10, whole],
  ['bytes', 10, whole],
  ['hello', 10, whole],
  ['items=0-1', 10, whole],
  ['bytes=1.5-2', 10, whole],
  ['bytes=0x1-2', 10, whole],
  ['bytes=--5', 10, whole],
  ['', 10, whole],
];

test('a single range is honoured, what is none is ignored, what is behind the end is unsatisfiable', () => {
  for (const [header, size, expected] of rows) {
    assert.deepEqual(readByteRange(header, size), expected, `${header?.slice(0, 60)} of ${size}`);
  }
});

test('a part always lies inside of the file, whatever the header', () => {
  const header = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.bigInt({ min: 0n, max: 2n ** 70n }), fc.bigInt({ min: 0n, max: 2n ** 70n }))
      .map(([a, b]) => `bytes=${a}-${b}`),
    fc.tuple(fc.nat(30), fc.nat(30)).map(([a, b]) => `bytes=${a}-${b}`),
    fc.nat(30).map((n) => `bytes=-${n}`),
  );
  fc.assert(
    fc.property(header, fc.nat(20), (text, size) => {
      const range = readByteRange(text, size);
      if (range.kind !== 'part') return;
      assert.ok(range.start >= 0 && range.start < range.endExclusive && range.endExclusive <= size);
    }),
    { numRuns: 2000 },
  );
});
