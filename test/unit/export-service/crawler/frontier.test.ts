// Decisions of the frontier, without a server: which address is kept, what an address found twice becomes, when to stop.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CrawlLimits, defaultCrawlLimits } from '#export-service/crawler/contract.ts';
import { createFrontier, type Frontier } from '#export-service/crawler/frontier.ts';
import type { Robots } from '#export-service/crawler/origin/robots.ts';
import type { FetchOutcome } from '#export-service/crawler/visit.ts';
import type { BodyLinks } from '#site/references/body-links.ts';
import type { BodyLink } from '#site/references/link-pool.ts';
import type { ReferenceUse } from '#site/references/reference.ts';
import * as fc from '../../../support/properties.ts';
import { words } from '../../../support/words.ts';

const openRobots: Robots = { isAllowed: ({ path }) => !path.startsWith('/no'), sitemaps: [] };

function link(text: string, use: ReferenceUse): BodyLink {
  const [path = '', query] = text.split('?');
  return { address: { path, query: query === undefined ? '' : `?${query}` }, use, isSitemap: false };
}

function linksTo(...links: readonly BodyLink[]): BodyLinks {
  return { links, external: [], unsafe: [], originSpelled: 0, queriesDropped: 0, isPartial: false };
}

const stored = (content: string, isDocument: boolean, ...links: readonly BodyLink[]): FetchOutcome => ({
  kind: 'stored',
  contentType: '',
  body: { sha256: content, sizeBytes: 1 },
  isDocument,
  role: isDocument ? 'document' : 'other',
  links: linksTo(...links),
});
const redirect = (to: string): FetchOutcome => ({
  kind: 'redirect',
  to: link(to, 'page').address,
  fragment: '',
});

/** Visits all there is, answering from a table; 404 for what is not in it. */
function runThrough(
  site: Readonly<Record<string, FetchOutcome>>,
  limits: Partial<CrawlLimits> = {},
): Frontier {
  const frontier = createFrontier({ ...defaultCrawlLimits, ...limits }, openRobots);
  frontier.add(link('/', 'page'), 0);
  for (let wave = frontier.nextWave(); wave.length > 0; wave = frontier.nextWave()) {
    for (const visit of wave) {
      const key = `${visit.address.path}${visit.address.query}`;
      frontier.settle(visit, site[key] ?? { kind: 'absent', reason: 'NotFound' });
    }
  }
  return frontier;
}

const contents = ({ files }: Frontier): Readonly<Record<string, string>> =>
  Object.fromEntries([...files].map(([path, { body }]) => [path, body.sha256]));

test('if two addresses have one path, the nearer is kept, then the first by name', () => {
  const frontier = runThrough({
    '/': stored('home', true, link('/b', 'page'), link('/a.png?2', 'asset'), link('/a.png?1', 'asset')),
    '/a.png?1': stored('one', false),
    '/a.png?2': stored('two', false),
    '/b': stored('near', true, link('/b.html', 'page')),
    '/b.html': stored('far', true),
  });
  assert.deepEqual(contents(frontier), { 'index.html': 'home', 'a.png': 'one', 'b.html': 'near' });
  assert.deepEqual([...frontier.leftOut], [['/b.html', { reason: 'SamePathTwice', from: '/b' }]]);
  assert.equal(frontier.pageCount(), 2);
});

test('of two Unicode forms of a path the first one gets the file, because archives with both are rejected', () => {
  const frontier = runThrough({
    '/': stored('home', true, link('/u%CC%88', 'page'), link('/%C3%BC', 'page')),
    '/%C3%BC': stored('one', true),
    '/u%CC%88': stored('two', true),
  });
  assert.deepEqual(contents(frontier), { 'index.html': 'home', '\u00fc.html': 'one' });
  assert.deepEqual([...frontier.leftOut], [['/u%CC%88', { reason: 'SamePathTwice', from: '/' }]]);
});

test('a document found first as an asset becomes a page, with its links, when a page links to it', () => {
  const frontier = runThrough({
    '/': stored('home', true, link('/x', 'asset'), link('/y', 'page')),
    '/x': stored('x', true, link('/z', 'page')),
    '/y': stored('y', true, link('/w', 'page')),
    '/w': stored('w', true, link('/x', 'page')),
    '/z': stored('z', true),
  });
  assert.deepEqual(Object.keys(contents(frontier)).sort(), words('index.html w.html x.html y.html z.html'));
});

test('the report names who asks for an address: a body that wants it, never one that only guesses', () => {
  const frontier = runThrough({
    '/': stored('home', true, link('/a', 'page'), link('/gone.png', 'hint'), link('/b', 'page')),
    '/a': stored('a', true, link('/gone.png', 'asset'), link('/lost', 'page')),
    '/b': stored('b', true, link('/lost', 'page')),
  });
  const askedBy = (path: string): string | undefined => frontier.visits.get(path)?.askedBy;
  assert.deepEqual(['/gone.png', '/lost', '/a', '/'].map(askedBy), ['/a', '/a', '/', undefined]);
});

test('redirects in a circle end, as assets and as pages', () => {
  const frontier = runThrough({
    '/': stored('home', true, link('/a', 'asset'), link('/p', 'page')),
    '/a': redirect('/b'),
    '/b': redirect('/a'),
    '/p': stored('p', true, link('/a', 'page')),
  });
  assert.deepEqual(Object.keys(contents(frontier)), ['index.html', 'p.html']);
});

test('an address behind too many redirects is visited if a page links to it', () => {
  const frontier = runThrough(
    {
      '/': stored('home', true, link('/r0', 'page'), link('/a', 'page')),
      '/r0': redirect('/r1'),
      '/r1': redirect('/r2'),
      '/r2': stored('end', true),
      '/a': stored('a', true, link('/b', 'page')),
      '/b': stored('b', true, link('/c', 'page')),
      '/c': stored('c', true, link('/r2', 'page')),
    },
    { maxRedirects: 1 },
  );
  assert.equal(contents(frontier)['r2.html'], 'end');
});

const nine = Array.from({ length: 9 }, (_, index) => `/a.png?${index}`);
const answered = (bodyOf: (key: string) => string): Frontier =>
  runThrough({
    '/': stored('home', true, ...nine.map((key) => link(key, 'asset'))),
    ...Object.fromEntries(nine.map((key) => [key, stored(bodyOf(key), false)])),
  });
const asked = (frontier: Frontier) => [...frontier.visits.keys()].filter((key) => key.startsWith('/a.png'));

test('of queries that change nothing, four are asked for', () => {
  const frontier = answered(() => 'same');
  assert.deepEqual(asked(frontier), nine.slice(0, 4));
  assert.deepEqual([...frontier.queriesNotTried()], [['/a.png', 5]]);
});

test('of queries that change the body, all are asked for', () => {
  const frontier = answered((key) => key);
  assert.deepEqual(asked(frontier), nine);
  assert.equal(frontier.queriesNotTried().size, 0);
});

test('a disallowed address is never in a wave', () => {
  const frontier = runThrough({
    '/': stored('home', true, link('/no/x', 'page')),
    '/no/x': stored('x', true),
  });
  assert.equal(frontier.visits.get('/no/x')?.outcome?.kind, 'absent');
  assert.deepEqual(Object.keys(contents(frontier)), ['index.html']);
});

test('chains of assets may be slightly deeper than pages', () => {
  const chain = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `/${n}.css`,
      stored(`${n}`, false, link(`/${n + 1}.css`, 'asset')),
    ]),
  );
  const site = { ...chain, '/': stored('home', true, link('/0.css', 'asset')) };
  assert.throws(() => runThrough(site, { maxDepth: 2 }), { code: 'TooDeep' });
  assert.equal(runThrough(site, { maxDepth: 30 }).files.size, 41);
});

test('for any site no address is visited twice, limits apply, and a second run gives the same result', () => {
  const path = fc.constantFrom('/', '/a', '/a.html', '/a/', '/b', '/b.png', '/no', '/404.html', '/c');
  const use = fc.constantFrom<ReferenceUse>('page', 'asset', 'hint');
  const outcome = fc.oneof(
    fc
      .tuple(fc.constantFrom('1', '2'), fc.boolean(), fc.array(fc.tuple(path, use), { maxLength: 4 }))
      .map(([content, isDocument, links]) =>
        stored(content, isDocument, ...links.map(([to, as]) => link(to, as))),
      ),
    path.map(redirect),
    fc.constant<FetchOutcome>({ kind: 'redirect', to: undefined, fragment: '' }),
    fc.constant<FetchOutcome>({ kind: 'absent', reason: 'NotFound' }),
  );
  fc.assert(
    fc.property(fc.dictionary(path, outcome, { maxKeys: 9 }), (site) => {
      const first = runThrough(site);
      const second = runThrough(site);
      assert.deepEqual(contents(first), contents(second));
      assert.deepEqual([...first.leftOut], [...second.leftOut]);
      assert.ok(first.pageCount() <= first.files.size && first.files.size <= first.visits.size);
      assert.ok([...first.visits.values()].every((visit) => visit.outcome !== undefined));
    }),
    { numRuns: 150 },
  );
});
