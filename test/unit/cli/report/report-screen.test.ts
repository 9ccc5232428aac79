// The report of what readers do not find, as a person sees it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TableBlock } from '#cli/output/layout.ts';
import { insightBlocks, otherContentFindings, unreadFindings } from '#cli/report/report-screen.ts';

const since = '2026-11-30T05:00:00Z';
type Fields = Parameters<typeof insightBlocks>[0];
type Address = Fields['missingAddresses']['entries'][number];

/** Of a report with one missing address and no search. */
function tablesOf(address: Address): readonly TableBlock[] {
  const fields: Fields = {
    servers: [],
    missingAddresses: { since, requests: 3, leftOut: 1, entries: [address] },
    emptySearches: { since, requests: 0, leftOut: 0, entries: [] },
    bundle: { digest: 'd' },
  };
  return insightBlocks(fields, 'docs').flatMap((block) =>
    typeof block === 'string' || block.kind !== 'table' ? [] : [block],
  );
}

test('pages that link to an address can be told apart, also where their addresses have blanks', () => {
  const linkingPages = { count: 2, examples: ['/my guide/a b', '/c'] };
  const tables = tablesOf({ address: '/gone', count: 2, lastHour: since, linkingPages });
  assert.deepEqual(
    tables.map(({ rows }) => rows),
    [[['2', '/gone', { instant: since }, '2', '/my guide/a b, /c']]],
  );
});

test('servers of another content than --bundle are a warning for each content, and those without a digest are not', () => {
  const [served, other, own] = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
  const servers: Fields['servers'] = [
    { server: 'docs/one', state: 'Read', digest: served },
    { server: 'docs/two', state: 'Read', digest: served },
    { server: 'docs/three', state: 'Read', digest: other },
    { server: 'docs/four', state: 'Read', digest: own },
    { server: 'docs/five', state: 'Off' },
  ];
  assert.deepEqual(
    otherContentFindings({ servers, bundle: { digest: own ?? '' } }).map(({ code, lines: [what] }) => [
      code,
      what,
    ]),
    [
      [
        'OtherContentServed',
        'Server docs/one and 1 more serve digest aaaaaaaaaaaa; --bundle is cccccccccccc',
      ],
      ['OtherContentServed', 'Server docs/three serves digest bbbbbbbbbbbb; --bundle is cccccccccccc'],
    ],
  );
  assert.deepEqual(otherContentFindings({ servers }), [], 'without --bundle');
});

test('a server that was not read is an error with its reason, and one that counts nothing is not', () => {
  const message = 'The server refused the connection. Check its port.';
  const servers: Fields['servers'] = [
    { server: 'docs/one', state: 'Read', digest: 'd' },
    { server: 'docs/two', state: 'Off' },
    { server: 'docs/three', state: 'NotReadable', message },
  ];
  assert.deepEqual(unreadFindings(servers), [
    {
      level: 'error',
      code: 'ServerNotRead',
      lines: ['Server docs/three was not read, so that the report lacks what it counted', message],
    },
  ]);
});
