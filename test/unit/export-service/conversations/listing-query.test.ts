// The query of a listing: defaults, limits, dates, and a 400 that names every error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiRefusal } from '#export-service/api-refusal.ts';
import { readListingQuery } from '#export-service/conversations/listing-query.ts';
import * as fc from '../../../support/properties.ts';

const dateBound = (text: string): number | undefined =>
  readListingQuery(new URLSearchParams({ dateFrom: text })).dateFrom;

const ulid = '01HZX3J8T4A1B2C3D4E5F6G7H8';

test('without parameters the first hundred rows are listed', () => {
  assert.deepEqual(readListingQuery(new URLSearchParams()), {
    dateFrom: undefined,
    dateTo: undefined,
    limit: 100,
    cursor: undefined,
  });
});

test('all parameters are read; one that is unknown is ignored', () => {
  const query = new URLSearchParams(
    `dateFrom=2024-01-01&dateTo=2024-01-02T00:00:00Z&limit=1000&cursor=${ulid.toLowerCase()}&utm=1`,
  );
  assert.deepEqual(readListingQuery(query), {
    dateFrom: Date.UTC(2024, 0, 1),
    dateTo: Date.UTC(2024, 0, 2),
    limit: 1000,
    cursor: ulid,
  });
});

test('each invalid parameter is refused with 400 and named', () => {
  const rows = [
    ['limit=0', /^limit/],
    ['limit=1001', /^limit/],
    ['limit=-1', /^limit/],
    ['limit=1.5', /^limit/],
    ['limit=', /^limit/],
    ['limit=ten', /^limit/],
    ['limit=1e2', /^limit/],
    ['limit=5&limit=6', /^limit.*once/],
    ['dateFrom=01/02/2024', /^dateFrom/],
    ['dateTo=2024-02-30', /^dateTo/],
    ['cursor=abc', /^cursor/],
    [`cursor=${ulid}0`, /^cursor/],
    [`cursor=8${ulid.slice(1)}`, /^cursor/],
    [`cursor=${ulid.replace('A', 'U')}`, /^cursor/],
    ['cursor=', /^cursor/],
  ] as const;
  for (const [query, words] of rows) {
    assert.throws(
      () => readListingQuery(new URLSearchParams(query)),
      (error) =>
        error instanceof ApiRefusal &&
        error.status === 400 &&
        error.details.length === 1 &&
        words.test(error.details[0] ?? ''),
      query,
    );
  }
});

test('several errors are all named at once', () => {
  assert.throws(
    () => readListingQuery(new URLSearchParams('limit=0&dateFrom=x&dateTo=y&cursor=z')),
    (error) => error instanceof ApiRefusal && error.details.length === 4,
  );
});

test('date-times and bare dates are read, and a missing zone is UTC', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['2024-01-15', '2024-01-15T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-01-15T10:30:00Z', '2024-01-15T10:30:00.000Z'],
    ['2024-01-15T10:30:00.123456Z', '2024-01-15T10:30:00.123Z'],
    ['2024-01-15T10:30:00,5Z', '2024-01-15T10:30:00.500Z'],
    ['2024-01-15T10:30:00', '2024-01-15T10:30:00.000Z'],
    ['2024-01-15T10:30', '2024-01-15T10:30:00.000Z'],
    ['2024-01-15T10:30Z', '2024-01-15T10:30:00.000Z'],
    ['2024-01-15T10:30+0200', '2024-01-15T08:30:00.000Z'],
    ['2024-01-15T10:30:00+02:00', '2024-01-15T08:30:00.000Z'],
    ['2024-01-15T10:30:00-0530', '2024-01-15T16:00:00.000Z'],
    ['2024-01-15t10:30:00z', '2024-01-15T10:30:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ];
  for (const [text, instant] of rows) {
    assert.equal(new Date(dateBound(text) ?? Number.NaN).toISOString(), instant, text);
  }
});

test('other text, and a date on no calendar, is not a bound', () => {
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
    assert.throws(() => dateBound(text), ApiRefusal, text);
  }
});

test('every text that a Date writes is read exactly', () => {
  const min = new Date('0000-01-01T00:00:00.000Z');
  const max = new Date('9999-12-31T23:59:59.999Z');
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
      assert.equal(dateBound(date.toISOString()), date.getTime());
    }),
  );
});
