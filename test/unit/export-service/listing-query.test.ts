// The listing's query: defaults, bounds, and a 400 that names every fault.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiRefusal } from '../../../src/export-service/api-refusal.ts';
import { readListingQuery } from '../../../src/export-service/listing-query.ts';

const ulid = '01HZX3J8T4A1B2C3D4E5F6G7H8';

test('nothing asked for is the first hundred of all', () => {
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

test('each faulty parameter is refused with 400 and named', () => {
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

test('several faults are all named at once', () => {
  assert.throws(
    () => readListingQuery(new URLSearchParams('limit=0&dateFrom=x&dateTo=y&cursor=z')),
    (error) => error instanceof ApiRefusal && error.details.length === 4,
  );
});
