// What the server keeps of what readers do not find, and what one client cannot do with it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSiteInsights } from '#server/insights/site-insights.ts';
import { manualClock } from '../manual-clock.ts';

const start = Date.parse('2026-11-30T10:20:30Z');
const search = (text: string): string => `/_sx/search/none?q=${encodeURIComponent(text)}`;

test('addresses and searches are counted apart, the most frequent first', () => {
  const insights = createSiteInsights(manualClock(start));
  for (const target of ['/a', '/b', '/b?x=1', '/.git/config']) insights.noteMissingAddress(target);
  insights.noteEmptySearch(search('Webhooks'), 'same-origin');
  insights.noteEmptySearch(search('webhooks '), undefined);
  insights.noteEmptySearch(search('jane@example.com'), 'same-origin');
  const lastTime = Date.parse('2026-11-30T10:00:00Z');
  assert.deepEqual(insights.missingAddresses(), {
    since: start,
    counts: { listed: 3, 'left-out': 1, limited: 0 },
    top: [
      { text: '/b', count: 2, lastTime },
      { text: '/a', count: 1, lastTime },
    ],
  });
  assert.deepEqual(insights.emptySearches(), {
    since: start,
    counts: { listed: 2, 'left-out': 1, limited: 0 },
    top: [{ text: 'webhooks', count: 2, lastTime }],
  });
});

test('a search that another site reports is not kept', () => {
  const insights = createSiteInsights(manualClock(start));
  for (const from of ['cross-site', 'same-site', 'none', 'same-origin, cross-site'])
    insights.noteEmptySearch(search('a'), from);
  assert.deepEqual(insights.emptySearches().top, []);
  assert.equal(insights.counts().emptySearches['left-out'], 4);
});

test('the lists have a hundred entries, and an address that leads somewhere by now is not one of them', () => {
  const insights = createSiteInsights(manualClock(start));
  for (let at = 0; at < 150; at += 1) insights.noteMissingAddress(`/${at}`);
  assert.equal(insights.missingAddresses().top.length, 100);
  const { top } = insights.missingAddresses((address) => address.length < 4);
  assert.deepEqual(
    top.map(({ text }) => text).toSorted(),
    Array.from({ length: 50 }, (_, at) => `/${at + 100}`),
  );
});

test('one client that reports without a pause adds a search a second, and is counted as limited', async () => {
  const clock = manualClock(start);
  const insights = createSiteInsights(clock);
  const report = (many: number): void => {
    for (let at = 0; at < many; at += 1) insights.noteEmptySearch(search(`flood ${at}`), 'same-origin');
  };
  report(500);
  assert.deepEqual(insights.counts().emptySearches, { listed: 100, 'left-out': 0, limited: 400 });
  await clock.pass(10_000);
  report(500);
  assert.deepEqual(insights.counts().emptySearches, { listed: 110, 'left-out': 0, limited: 890 });
});

test('a scanner of new addresses is limited, while known addresses are counted', () => {
  const insights = createSiteInsights(manualClock(start));
  insights.noteMissingAddress('/old');
  for (let at = 0; at < 1000; at += 1) insights.noteMissingAddress(`/scan/${at}`);
  insights.noteMissingAddress('/old');
  assert.deepEqual(insights.counts().missingAddresses, { listed: 201, 'left-out': 0, limited: 801 });
  assert.deepEqual(insights.missingAddresses().top[0]?.text, '/old');
});
