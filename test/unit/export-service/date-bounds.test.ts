// Both date forms of the listing, and what is on no calendar.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDateBound } from '../../../src/export-service/date-bounds.ts';

test('date-times and bare dates are read, in UTC where no zone is given', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['2024-01-15', '2024-01-15T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-01-15T10:30:00Z', '2024-01-15T10:30:00.000Z'],
    ['2024-01-15T10:30:00.123456Z', '2024-01-15T10:30:00.123Z'],
    ['2024-01-15T10:30:00,5Z', '2024-01-15T10:30:00.500Z'],
    ['2024-01-15T10:30:00', '2024-01-15T10:30:00.000Z'],
    ['2024-01-15T10:30', '2024-01-15T10:30:00.000Z'],
    ['2024-01-15T10:30:00+02:00', '2024-01-15T08:30:00.000Z'],
    ['2024-01-15T10:30:00-0530', '2024-01-15T16:00:00.000Z'],
    ['2024-01-15t10:30:00z', '2024-01-15T10:30:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ];
  for (const [text, instant] of rows) {
    assert.equal(new Date(parseDateBound(text) ?? Number.NaN).toISOString(), instant, text);
  }
});

test('what is neither form, or on no calendar, is no bound', () => {
  for (const text of [
    '',
    'yesterday',
    '2024',
    '2024-01',
    '2024-1-5',
    '2024-02-30',
    '2023-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-01-15T24:00:00Z',
    '2024-01-15T10:60:00Z',
    '2024-01-15T10:30:60Z',
    '2024-01-15T10:30:00+25:00',
    '2024-01-15 10:30:00',
    '2024-01-15T',
    ' 2024-01-15',
    '2024-01-15Z',
    '20240115',
    '1705314600',
  ]) {
    assert.equal(parseDateBound(text), undefined, text);
  }
});

test('every instant that a Date can write is read back exactly', () => {
  const min = new Date('0000-01-01T00:00:00.000Z');
  const max = new Date('9999-12-31T23:59:59.999Z');
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
      assert.equal(parseDateBound(date.toISOString()), date.getTime());
    }),
  );
});
