import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insightBlocks } from '#cli/report/report-screen.ts';

test('pages that link to an address can be told apart, also where their addresses have blanks', () => {
  const since = '2026-11-30T05:00:00Z';
  const blocks = insightBlocks(
    {
      servers: [],
      missingAddresses: {
        ...{ since, requests: 3, leftOut: 1 },
        entries: [
          {
            ...{ address: '/gone', count: 2, lastHour: since },
            linkingPages: { count: 2, examples: ['/my guide/a b', '/c'] },
          },
        ],
      },
      emptySearches: { since, requests: 0, leftOut: 0, entries: [] },
      bundle: { digest: 'd', version: undefined },
    },
    'docs',
  );
  const [table] = blocks.filter(
    (block) => typeof block === 'object' && 'kind' in block && block.kind === 'table',
  );
  assert.deepEqual(table !== undefined && 'rows' in Object(table) && JSON.parse(JSON.stringify(table)).rows, [
    ['2', '/gone', { instant: since }, '2', '/my guide/a b, /c'],
  ]);
});
