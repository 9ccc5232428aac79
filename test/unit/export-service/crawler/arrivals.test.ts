// Progress as a wave's answers come in: what has arrived, what is still open, what lies ahead.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createArrivals } from '../../../../src/export-service/crawler/arrivals.ts';
import { noLinks } from '../../../../src/export-service/crawler/body-links.ts';
import { type CrawlProgress, defaultCrawlLimits } from '../../../../src/export-service/crawler/contract.ts';
import { createFrontier, type Outcome } from '../../../../src/export-service/crawler/frontier.ts';
import type { ReferenceUse } from '../../../../src/export-service/crawler/reference.ts';

const link = (path: string, use: ReferenceUse = 'page') => ({
  address: { path, query: '' },
  use,
  isSitemap: false,
});
const page = (...paths: readonly string[]): Outcome => ({
  kind: 'stored',
  body: { sha256: '', sizeBytes: 1 },
  isDocument: true,
  links: { ...noLinks, links: paths.map((path) => link(path)) },
});

test('each answer moves one page from open to arrived, and what it links to is counted once, ahead', () => {
  const frontier = createFrontier(defaultCrawlLimits, { isAllowed: () => true, sitemaps: [] });
  for (const path of ['/a', '/b', '/dead']) frontier.add(link(path), 0);
  frontier.add(link('/x.png', 'asset'), 0);
  const seen: CrawlProgress[] = [];
  const arrivals = createArrivals(defaultCrawlLimits, frontier, (progress) => seen.push(progress));
  const wave = frontier.nextWave();
  arrivals.startWave(wave);
  const outcomes: Readonly<Record<string, Outcome>> = {
    '/a': page('/b', '/c', '/d'),
    '/b': page('/d', '/e'),
    '/dead': { kind: 'absent', reason: 'NotFound' },
    '/x.png': { kind: 'absent', reason: 'NotFound' },
  };
  for (const visit of wave) {
    const outcome = outcomes[visit.address.path];
    if (outcome !== undefined) arrivals.finish(visit, outcome);
  }
  assert.deepEqual(seen, [
    { pageCount: 0, discovered: 3 },
    { pageCount: 1, discovered: 5 },
    { pageCount: 2, discovered: 6 },
    { pageCount: 2, discovered: 5 },
  ]);
});

test('limits end a wave in its middle', () => {
  const frontier = createFrontier(defaultCrawlLimits, { isAllowed: () => true, sitemaps: [] });
  for (const path of ['/a', '/b']) frontier.add(link(path), 0);
  const arrivals = createArrivals({ maxBytes: 10, maxPages: 1 }, frontier, () => {});
  const [first, second] = frontier.nextWave();
  assert.ok(first !== undefined && second !== undefined);
  arrivals.addBytes(10);
  assert.throws(() => arrivals.addBytes(1), { code: 'TooManyBytes' });
  arrivals.finish(first, page());
  assert.throws(() => arrivals.finish(second, page()), { code: 'TooManyPages' });
});
