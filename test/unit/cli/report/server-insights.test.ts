// What servers say, and the sum of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addInsights, parseInsights } from '#cli/report/server-insights.ts';

const since = '2026-11-30T10:00:00Z';
const digest = 'a'.repeat(64);
const list = (entries: readonly object[]): object => ({ since, requests: 5, leftOut: 1, top: entries });
const status = (insights: unknown): object => ({ active: { basePath: '/docs', digest }, insights });

test('the lists of a server are read, and its text is printable', () => {
  const address = { address: '/docs/a\u202eb', count: 4, lastHour: since };
  const read = parseInsights(status({ missingAddresses: list([address]), emptySearches: list([]) }));
  assert.deepEqual(read, {
    basePath: '/docs',
    digest,
    missingAddresses: {
      ...{ since, requests: 5, leftOut: 1 },
      entries: [{ text: '/docs/a\\u{202e}b', count: 4, lastHour: since }],
    },
    emptySearches: { since, requests: 5, leftOut: 1, entries: [] },
  });
});

test('a server that counts nothing is off, and what is not a status is none', () => {
  assert.equal(parseInsights(status(null)), 'off');
  assert.equal(parseInsights({ active: null }), 'off', 'of an earlier version');
  const many = Array.from({ length: 1001 }, () => ({ text: 'a', count: 1, lastHour: since }));
  for (const document of [
    undefined,
    'ok',
    {},
    status({}),
    status({ missingAddresses: list([]), emptySearches: list(many) }),
  ])
    assert.equal(parseInsights(document), undefined);
});

test('what several servers counted is added by text, with the earliest start and the latest hour', () => {
  const entry = (text: string, count: number, hour: string) => ({
    text,
    count,
    lastHour: `2026-11-30T${hour}:00:00Z`,
  });
  const one = {
    since: '2026-11-30T10:00:00Z',
    requests: 4,
    leftOut: 1,
    entries: [entry('a', 2, '11'), entry('b', 1, '12')],
  };
  const other = {
    since: '2026-11-29T10:00:00Z',
    requests: 9,
    leftOut: 0,
    entries: [entry('b', 8, '10'), entry('c', 1, '13')],
  };
  assert.deepEqual(addInsights([one, other]), {
    since: '2026-11-29T10:00:00Z',
    requests: 13,
    leftOut: 1,
    entries: [entry('b', 9, '12'), entry('a', 2, '11'), entry('c', 1, '13')],
  });
});
