// Instants as services write them, as a table.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { readInstant } from '../../../src/export-api/instants.ts';

const newYear = Date.UTC(2026, 0, 1);

test('an instant is read from every form that services use, and a missing zone is UTC', () => {
  const rows: readonly (readonly [unknown, number | undefined])[] = [
    ['2026-01-01T00:00:00Z', newYear],
    ['2026-01-01T00:00:00.000Z', newYear],
    ['2026-01-01T01:00:00+01:00', newYear],
    ['2026-01-01T00:00:00', newYear],
    ['2026-01-01 00:00:00', newYear],
    ['2026-01-01T00:00', newYear],
    ['2026-01-01', newYear],
    ['Thu, 01 Jan 2026 00:00:00 GMT', newYear],
    [newYear / 1000, newYear],
    [newYear, newYear],
    [String(newYear / 1000), newYear],
    [String(newYear), newYear],
    ['tomorrow', undefined],
    ['2026-13-45', undefined],
    ['1', undefined],
    ['', undefined],
    [0, undefined],
    [-5, undefined],
    [Number.NaN, undefined],
    [1e300, undefined],
    [null, undefined],
    [{}, undefined],
  ];
  for (const [value, at] of rows) assert.equal(readInstant(value), at, inspect(value));
});

test('whatever comes in, an instant is undefined or one that a Date can hold', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double(), fc.jsonValue()), (value) => {
      const at = readInstant(value);
      assert.ok(at === undefined || !Number.isNaN(new Date(at).getTime()));
    }),
  );
});
