// Progress while a wave's answers arrive: pages fetched, pages open, and pages that the wave links to.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createArrivals } from '#export-service/crawler/arrivals.ts';
import { type CrawlProgress, defaultCrawlLimits } from '#export-service/crawler/contract.ts';
import { createFrontier } from '#export-service/crawler/frontier.ts';
import type { FetchOutcome } from '#export-service/crawler/visit.ts';
import { noLinks } from '#site/references/body-links.ts';
import type { ReferenceUse } from '#site/references/reference.ts';

const link = (path: string, use: ReferenceUse = 'page') => ({
  address: { path, query: '' },
  use,
  isSitemap: false,
});
const page = (...paths: readonly string[]): FetchOutcome => ({
  kind: 'stored',
  contentType: '',
  body: { sha256: '', sizeBytes: 1 },
  isDocument: true,
  role: 'document',
  links: { ...noLinks, links: paths.map((path) => link(path)) },
});

const sitemap = (...links: readonly ReturnType<typeof link>[]): FetchOutcome => ({
  kind: 'stored',
  contentType: '',
  body: { sha256: '', sizeBytes: 1 },
  isDocument: false,
  role: 'other',
  links: { ...noLinks, links },
});
const absent: FetchOutcome = { kind: 'absent', reason: 'NotFound' };
const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `/p${String(index).padStart(2, '0')}`);

/** Crawls the answers, wave after wave. @returns the reports of each wave */
function reportsOf(
  answers: Readonly<Record<string, FetchOutcome>>,
  seeds: readonly ReturnType<typeof link>[],
) {
  const frontier = createFrontier(defaultCrawlLimits, { isAllowed: () => true, sitemaps: [] });
  for (const seed of seeds) frontier.add(seed, 0);
  const waves: CrawlProgress[][] = [];
  const arrivals = createArrivals(defaultCrawlLimits, frontier, (progress) => waves.at(-1)?.push(progress));
  for (let wave = frontier.nextWave(); wave.length > 0; wave = frontier.nextWave()) {
    waves.push([]);
    arrivals.startWave(wave);
    for (const visit of wave) arrivals.finish(visit, answers[visit.address.path] ?? absent);
    for (const visit of wave) frontier.settle(visit, answers[visit.address.path] ?? absent);
  }
  return waves;
}

const home = [link('/'), { ...link('/sitemap.xml', 'hint'), isSitemap: true }];

test('the home page is reported only after the sitemap was read', () => {
  const all = numbered(64);
  const answers = Object.fromEntries(all.map((path) => [path, page(...all)]));
  const waves = reportsOf(
    { ...answers, '/': page(), '/sitemap.xml': sitemap(...all.map((to) => link(to))) },
    home,
  );
  assert.deepEqual(waves[0], [{ pageCount: 1, discovered: 65 }]);
  assert.deepEqual(
    waves[1],
    Array.from({ length: 65 }, (_, index) => ({ pageCount: index + 1, discovered: 65 })),
  );
});

test('progress waits for nested sitemaps', () => {
  const nested = { ...link('/more.xml', 'asset'), isSitemap: true };
  const answers = { '/': page('/a'), '/a': page(), '/b': page(), '/sitemap.xml': sitemap(nested) };
  const waves = reportsOf({ ...answers, '/more.xml': sitemap(link('/b')) }, home);
  assert.deepEqual(waves, [[], [{ pageCount: 2, discovered: 3 }], [{ pageCount: 3, discovered: 3 }]]);
});

test('a few pages are reported together, with all pages that they link to', () => {
  const answers = {
    '/': page('/changes', '/guide'),
    '/changes': page(),
    '/guide': page(...numbered(20)),
  };
  const [first, second] = reportsOf(answers, home);
  assert.deepEqual(first, [{ pageCount: 1, discovered: 3 }]);
  assert.deepEqual(second, [{ pageCount: 3, discovered: 23 }]);
});

test('each answer counts its page as fetched, and each new page that it links to once', () => {
  const [, second] = reportsOf(
    {
      '/': page(...numbered(8)),
      '/p00': page('/p01', '/c', '/d'),
      '/p01': page('/d', '/e'),
      '/p03': page('/x.png'),
      ...Object.fromEntries(['/p04', '/p05', '/p06', '/p07'].map((path) => [path, page()])),
    },
    home,
  );
  assert.deepEqual(second, [
    { pageCount: 1, discovered: 9 },
    // One page in eight has led to two: the other seven may lead to fourteen.
    { pageCount: 2, discovered: 9 + 2 + 14 },
    { pageCount: 3, discovered: 9 + 3 + 9 },
    { pageCount: 3, discovered: 8 + 3 + 5 },
    { pageCount: 4, discovered: 8 + 4 + 4 },
    { pageCount: 5, discovered: 8 + 4 + 2 },
    { pageCount: 6, discovered: 8 + 4 + 1 },
    { pageCount: 7, discovered: 8 + 4 + 1 },
    { pageCount: 8, discovered: 8 + 4 },
  ]);
});

test('the limit on pages ends a wave in its middle', () => {
  const frontier = createFrontier(defaultCrawlLimits, { isAllowed: () => true, sitemaps: [] });
  for (const path of ['/a', '/b']) frontier.add(link(path), 0);
  const arrivals = createArrivals({ maxPages: 1 }, frontier, () => {});
  const [first, second] = frontier.nextWave();
  assert.ok(first !== undefined && second !== undefined);
  arrivals.finish(first, page());
  assert.throws(() => arrivals.finish(second, page()), { code: 'TooManyPages' });
});
