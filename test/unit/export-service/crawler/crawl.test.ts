// The whole crawl against a real server on loopback: the tree of the trap site, and that the result depends only on the
// site's content.

import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import { isInternalAddress } from '#platform/wire/address.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { readHtmlReferences } from '#site/references/html-references.ts';
import * as traps from '../../../fixtures/sites/trap-site.ts';
import { crawl, pages, type SiteServer, serveSite, textsOf } from './site-server.ts';

async function serveTraps(t: TestContext): Promise<SiteServer> {
  let site: Readonly<Record<string, traps.Served>> = {};
  const server = await serveSite(t, (path) => site[path]);
  site = traps.trapSite(server.origin.origin);
  return server;
}

const failsWith = (code: string) => (error: unknown) => {
  assert.ok(error instanceof PublishableError);
  assert.equal(error.code, code);
  assert.doesNotMatch(error.message, /https?:|\?/);
  return true;
};

test('the trap site is exported byte for byte as its tree defines', async (t) => {
  const { origin } = await serveTraps(t);
  const result = await crawl(t, origin);
  const texts = await textsOf(result);
  assert.deepEqual(Object.keys(texts), Object.keys(traps.tree).sort());
  const site = traps.trapSite(origin.origin);
  for (const [path, source] of Object.entries(traps.tree)) {
    if (typeof source === 'string') {
      const body = Buffer.from(site[source]?.body ?? '').toString();
      const expected = traps.renamed.reduce(
        (text, [from, to]) => text.replaceAll(`"${from}"`, `"${to}"`),
        body,
      );
      assert.equal(texts[path], expected, path);
    } else {
      const targets = readHtmlReferences(texts[path] ?? '').references.map(({ text }) => text);
      assert.deepEqual([...new Set(targets)], [source.leadsTo], path);
    }
  }
  assert.equal(result.pageCount, traps.pageCount);
});

test('the report names missing addresses, and parts that do not work in a bundle', async (t) => {
  const { origin } = await serveTraps(t);
  const result = await crawl(t, origin);
  assert.deepEqual(
    result.skipped.map(({ path, reason }) => [path, reason]),
    traps.skipped,
  );
  assert.deepEqual(result.notes, [
    { code: 'OriginSpelledInLinks', count: 1, example: '/' },
    { code: 'QueriesDropped', count: 1, example: '/' },
  ]);
});

test('no address is requested twice except robots.txt, and no disallowed address at all', async (t) => {
  const { origin, requests } = await serveTraps(t);
  await crawl(t, origin);
  const repeated = requests.filter((path, index) => requests.indexOf(path) !== index);
  assert.deepEqual(repeated, ['/robots.txt']);
  assert.deepEqual(
    requests.filter((path) => path.startsWith('/private') || path.includes('tab=')),
    [],
  );
});

test('the order of answers does not change the export', async (t) => {
  let site: Readonly<Record<string, traps.Served>> = {};
  let seed = 0;
  const { origin } = await serveSite(t, async (path) => {
    // Each answer is delayed by some rounds of the event loop, derived from its path and the seed.
    const turns = seed === 0 ? 0 : [...path].reduce((sum, char) => sum * seed + char.charCodeAt(0), 1) % 17;
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return site[path];
  });
  site = traps.trapSite(origin.origin);
  const summarize = async (concurrency: number): Promise<unknown> => {
    const { files, skipped, notes, pageCount } = await crawl(t, origin, { limits: { concurrency } });
    return { files: files.map(({ path, sha256 }) => [path, sha256]), skipped, notes, pageCount };
  };
  const expected = await summarize(1);
  for (seed of [3, 5, 7]) assert.deepEqual(await summarize(8), expected);
});

test('progress never falls, and ends at the number of exported pages', async (t) => {
  const { origin } = await serveTraps(t);
  const seen: { readonly pageCount: number; readonly discovered: number }[] = [];
  const { pageCount } = await crawl(t, origin, { onProgress: (progress) => seen.push(progress) });
  for (const [index, { pageCount: count, discovered }] of seen.entries()) {
    assert.ok(count >= (seen[index - 1]?.pageCount ?? 0));
    assert.ok(discovered >= count);
  }
  assert.deepEqual(seen.at(-1), { pageCount, discovered: pageCount });
  // After the home page, what it links to is known: progress does not start at its end.
  const first = seen.find((progress) => progress.pageCount === 1);
  assert.ok((first?.discovered ?? 0) > 10);
});

test('an origin with a path prefix is exported from its own root', async (t) => {
  const { origin, requests } = await serveSite(
    t,
    pages({
      '/base/': '<a href="x">x</a> <a href="/base/y">y</a> <a href="/z">z</a><img src="/logo.png">',
      '/base/x': 'x',
      '/base/y': 'y',
    }),
  );
  const result = await crawl(t, new URL('/base/', origin));
  assert.deepEqual(
    result.files.map(({ path }) => path),
    ['index.html', 'x.html', 'y.html'],
  );
  assert.deepEqual(result.skipped, [{ path: `${origin.host}/logo.png`, reason: 'External', from: '/' }]);
  assert.deepEqual(result.notes, [{ code: 'OriginSpelledInLinks', count: 1, example: '/' }]);
  assert.ok(requests.every((path) => path.startsWith('/base/')));
});

const hostile: readonly (readonly [string, (other: URL) => string])[] = [
  ['the metadata address', () => 'http://169.254.169.254/latest/meta-data/'],
  ['another port of the same machine', (other) => other.href],
  ['another name of the same machine', (other) => `http://localhost:${other.port}/`],
  ['a file', () => 'file:///etc/passwd'],
];
for (const [name, target] of hostile) {
  test(`a redirect to ${name} is not followed`, async (t) => {
    const other = await serveSite(t, pages({ '/': 'internal' }));
    const { origin } = await serveSite(t, (path) =>
      path === '/to'
        ? { status: 302, headers: { location: target(other.origin) } }
        : pages({ '/': '<a href="/to">x</a>' })(path),
    );
    const result = await crawl(t, origin);
    assert.deepEqual(result.skipped, [{ path: '/to', reason: 'RedirectOffSite', from: '/' }]);
    assert.deepEqual(other.requests, []);
  });
}

test('links, pictures and sitemaps of other hosts are not fetched', async (t) => {
  const other = await serveSite(t, pages({ '/': 'internal' }));
  const text = `User-agent: *\nSitemap: ${other.origin.href}sitemap.xml`;
  const { origin } = await serveSite(t, (path) =>
    path === '/robots.txt'
      ? { headers: { 'content-type': 'text/plain' }, body: text }
      : pages({ '/': `<a href="${other.origin}"></a><img src="${other.origin}a.png">` })(path),
  );
  await crawl(t, origin);
  assert.deepEqual(other.requests, []);
});

test('an internal origin without --origin is refused before any request', async (t) => {
  const { origin, requests } = await serveSite(t, pages({ '/': 'internal' }));
  const request = { isOriginConsented: false };
  await assert.rejects(crawl(t, origin, { request }), failsWith('OriginInternal'));
  const named = new URL(`http://localhost:${origin.port}/`);
  await assert.rejects(crawl(t, named, { request }), failsWith('OriginInternal'));
  assert.deepEqual(requests, []);
});

test('a name that DNS resolves to this machine is refused when connecting', async (t) => {
  // A machine's own name mostly leads to an address of its own; where it does not, there is nothing to show.
  const name = hostname();
  const addresses = await lookup(name, { all: true }).catch(() => []);
  if (!addresses.some(({ address }) => isInternalAddress(address)))
    return t.skip(`${name} is not internal here`);
  const request = { isOriginConsented: false };
  await assert.rejects(crawl(t, new URL(`http://${name}:1/`), { request }), failsWith('OriginInternal'));
});
