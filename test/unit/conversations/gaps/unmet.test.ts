// What readers of the site did not find, next to what they asked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlReport } from '#conversations/gaps/html.ts';
import { markdownReport } from '#conversations/gaps/markdown.ts';
import { parseReport, reportKind } from '#conversations/gaps/report-schema.ts';
import { parseReaderInsights } from '#conversations/gaps/unmet.ts';
import { reportOf, site, times, turn } from './sample-report.ts';

const lastHour = '2026-11-26T10:00:00Z';
const document = {
  kind: 'InsightReport',
  missingAddresses: {
    requests: 9,
    entries: [
      { address: '/guide/old', count: 7, lastHour, linkingPages: { count: 2, examples: ['/', '/guide'] } },
      { address: '/guide', count: 1, lastHour },
      { address: '/x|<b>.html', count: 1, lastHour },
    ],
  },
  emptySearches: {
    entries: [
      { text: 'sso set up', count: 5, lastHour },
      { text: 'the', count: 1, lastHour },
      { text: 'webhooks', count: 1, lastHour },
    ],
  },
};
const insights = parseReaderInsights(JSON.stringify(document));

test('a search has the turns about its words, an address the turns that cite it, and a page of the bundle is not missing', () => {
  const turns = [
    ...times(3, () => turn({ resolution_status: 'unanswered' })),
    ...times(2, () => turn({ cites: [`${site}/guide/old`] })),
  ];
  const bundle = { version: 'v-1', files: { 'guide/index.html': 'guide' } };
  const report = reportOf(turns, { bundle, insights });
  assert.deepEqual(report.unmet, {
    searches: [
      { text: 'sso set up', searches: 5, turns: 5, unanswered: 3 },
      { text: 'the', searches: 1, turns: 0, unanswered: 0 },
      { text: 'webhooks', searches: 1, turns: 0, unanswered: 0 },
    ],
    addresses: [
      { page: '/guide/old', requests: 7, linkingPages: 2, citedTurns: 2 },
      { page: '/x|<b>', requests: 1, citedTurns: 0 },
    ],
  });
  assert.ok(
    parseReport(JSON.stringify({ kind: reportKind, ...report })) !== undefined,
    'the next run reads it',
  );
  const lines = markdownReport(report);
  assert.ok(lines.includes('| `sso set up` | 5 | 5 | 3 |'));
  assert.ok(lines.includes('| `/guide/old` | 7 | 2 | 2 |'));
  assert.match(htmlReport(report), /<h2>Addresses that readers did not find<\/h2>/);
});

test('without insights a report has no such part, and another document is not taken for them', () => {
  const report = reportOf([turn()]);
  assert.equal('unmet' in report, false);
  assert.ok(!markdownReport(report).some((line) => line.includes('Searches without a result')));
  for (const text of ['', '{}', JSON.stringify({ ...document, kind: 'GapReport' })])
    assert.equal(parseReaderInsights(text), undefined);
});
