// The search that a server adds to a site, over HTTP: pages with their line in every form of an answer, files of the search, swaps,
// restarts, damage and full limits. The bundle and its digest stay as they are.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { type SiteContent, siteDigest } from './archive.ts';
import { ask } from './raw-client.ts';
import type { Status } from './served-site.ts';
import { siteForEachTest } from './server-here.ts';

const here = siteForEachTest();

const slow = { timeoutMs: 60_000 };
const page = (name: string): string =>
  `<!doctype html><html lang=en><head><title>${name}</title></head><body><main><h1>${name}</h1>${`<p>About ${name}.</p>`.repeat(60)}</main></body></html>`;
const lineOf = (basePath = ''): string => `<script defer src="${basePath}/_sx/search/search.js"></script>`;
const withLine = (name: string, basePath = ''): string =>
  page(name).replace('</head>', `${lineOf(basePath)}</head>`);

const siteOf = (version: string): SiteContent => ({
  'index.html': page(`home ${version}`),
  '404.html': page('lost'),
  'guide/index.html': page('guide'),
  'old.xhtml': page('XHTML'),
  'wide.html': Buffer.from(`\ufeff${page('wide')}`, 'utf16le'),
  'part.html': `<p>${'part '.repeat(200)}</p>`,
  'style.css': 'p { margin: 0 }\n'.repeat(100),
  '_sx/report.json': '{}',
});

const publish = (version: string, basePath?: string, content = siteOf(version)): Promise<void> =>
  here.publish(version, content, basePath);

const isSearchReady =
  (version: string) =>
  ({ active, search, encodings }: Status): boolean =>
    active?.version === version && search.state === 'ready' && encodings.state === 'ready';
const searched = (version: string): Promise<Status> =>
  here.served.until(`the search of ${version} is served`, isSearchReady(version), slow);

async function get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const response = await fetch(here.served.site + path, {
    method,
    headers: { 'accept-encoding': 'identity', ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const revalidated = 'public, max-age=0, must-revalidate';
const immutable = 'public, max-age=31536000, immutable';

/** Names in the manifest. */
const hashNames = (manifest: string): readonly string[] =>
  [...manifest.matchAll(/"([0-9a-f]{16})\\?"/g)].map(([, name = '']) => name);

for (const fastPath of ['true', 'false']) {
  test(`a page has its line in every form of an answer (fast path: ${fastPath})`, async () => {
    await publish('v1');
    await here.served.start('--search', '--fast-path', fastPath);
    const { active, search } = await searched('v1');
    assert.equal(active?.digest, siteDigest(siteOf('v1')), 'the published digest');
    assert.equal(search.pages, 3);
    const expected = withLine('home v1');
    const home = await get('/');
    assert.deepEqual([home.status, home.text], [200, expected]);
    const tag = home.headers.get('etag') ?? '';
    assert.equal(tag, `"${createHash('sha256').update(expected).digest('hex').slice(0, 32)}"`);

    const head = await get('/', {}, 'HEAD');
    assert.deepEqual(
      [head.headers.get('etag'), head.headers.get('content-length')],
      [tag, `${expected.length}`],
    );
    assert.equal((await get('/', { 'if-none-match': tag })).status, 304);
    assert.equal((await get('/', { 'if-match': '"of the plain page"' })).status, 412);

    const at = expected.indexOf('<script');
    for (const [from, to] of [
      [0, at],
      [at - 3, at + 3],
      [at + 2, at + 9],
      [at + 5, expected.length - 1],
    ] as const) {
      const part = await get('/', { range: `bytes=${from}-${to}`, 'if-range': tag });
      assert.deepEqual([part.status, part.text], [206, expected.slice(from, to + 1)], `${from}-${to}`);
      assert.equal(part.headers.get('content-range'), `bytes ${from}-${to}/${expected.length}`);
    }
    const other = await get('/', { range: 'bytes=0-9', 'if-range': '"of the plain page"' });
    assert.deepEqual([other.status, other.text], [200, expected]);
    assert.equal((await get('/', { range: `bytes=${expected.length}-` })).status, 416);

    const compressed = await ask(here.served.port, '/', ['Accept-Encoding: br']);
    assert.match(compressed.head, /content-encoding: br/i);
    assert.equal(brotliDecompressSync(Buffer.from(compressed.body, 'latin1')).toString(), expected);

    const lost = await get('/nowhere');
    assert.deepEqual([lost.status, lost.text], [404, withLine('lost')]);
    assert.equal((await get('/guide/')).text, withLine('guide'));
  });
}

test('what cannot carry the line is sent as it is, and documents of the export stay hidden', async () => {
  const site = siteOf('v1');
  await publish('v1');
  await here.served.start('--search');
  await searched('v1');
  for (const path of ['old.xhtml', 'part.html', 'style.css']) {
    assert.equal((await get(`/${path}`)).text, site[path], path);
  }
  const wide = await fetch(`${here.served.site}/wide.html`);
  assert.deepEqual(Buffer.from(await wide.arrayBuffer()), site['wide.html']);
  assert.equal((await get('/_sx/report.json')).status, 404);
});

test('the manifest and the program are revalidated; files named by their content are immutable, and outlive their version', async () => {
  await publish('v1');
  await here.served.start('--search');
  await searched('v1');
  const manifest = await get('/_sx/search/index.js');
  assert.equal(manifest.headers.get('cache-control'), revalidated);
  assert.match(manifest.headers.get('content-type') ?? '', /^text\/javascript/);
  assert.equal((await get('/_sx/search/search.js')).headers.get('cache-control'), revalidated);
  const names = hashNames(manifest.text);
  assert.ok(names.length > 0);
  const former = await Promise.all(names.map((name) => get(`/_sx/search/${name}.js`)));
  for (const { status, headers } of former) {
    assert.deepEqual([status, headers.get('cache-control')], [200, immutable]);
  }
  await publish('v2');
  await searched('v2');
  assert.notEqual((await get('/_sx/search/index.js')).headers.get('etag'), manifest.headers.get('etag'));
  for (const [at, name] of names.entries()) {
    assert.equal((await get(`/_sx/search/${name}.js`)).text, former[at]?.text, name);
  }
});

test('the address of the program follows the base path, also where the same content is published under another', async () => {
  await publish('v1', '/docs');
  await here.served.start('--search');
  await searched('v1');
  assert.equal((await get('/docs/')).text, withLine('home v1', '/docs'));
  assert.equal((await get('/docs/_sx/search/search.js')).status, 200);
  await publish('v2', '/guide', siteOf('v1'));
  await searched('v2');
  assert.equal((await get('/guide/')).text, withLine('home v1', '/guide'));
});

test('a restart finds the search of the disk; one that is damaged is made again and never sent', async () => {
  await publish('v1');
  await here.served.start('--search');
  const { active } = await searched('v1');
  const manifest = await get('/_sx/search/index.js');
  const folder = join(here.served.store, 'bundles', active?.digest ?? '');
  const restart = async (): Promise<boolean> => {
    const before = here.served.output().length;
    await here.served.start('--search');
    await searched('v1');
    const [, isFound] =
      /"isFound":(true|false)[^\n]*the search of the site is served/.exec(
        here.served.output().slice(before),
      ) ?? [];
    assert.equal((await get('/_sx/search/index.js')).text, manifest.text);
    assert.equal((await get('/')).text, withLine('home v1'));
    return isFound === 'true';
  };
  await here.served.kill();
  assert.equal(await restart(), true);
  await here.served.kill();
  const made = await readFile(join(folder, 'made'));
  made[0] = (made[0] ?? 0) ^ 1;
  await writeFile(join(folder, 'made'), made);
  assert.equal(await restart(), false);
});

test('without the flag not one byte is added, and the room that an earlier run used is free', async () => {
  await publish('v1');
  await here.served.start('--search');
  const { active } = await searched('v1');
  await here.served.kill();
  await here.served.start();
  await here.served.until('variants are made', ({ encodings }) => encodings.state === 'ready', slow);
  const { search } = await here.served.status();
  assert.deepEqual(search, { state: 'off', files: 0, pages: 0, sizeBytes: 0 });
  assert.equal((await get('/')).text, page('home v1'));
  assert.equal((await get('/nowhere')).text, page('lost'));
  assert.equal((await get('/_sx/search/index.js')).status, 404);
  const left = await readdir(join(here.served.store, 'bundles', active?.digest ?? ''));
  assert.deepEqual(left.toSorted(), ['index', 'pack', 'variants', 'variants-index']);
});

test('a search that exceeds the limit of the bundle is left out, and the site is served and precompressed', async () => {
  // The archive fits with the headers of its format, and the program of the search alone does not.
  const bytes = Object.values(siteOf('v1')).reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  await publish('v1');
  await here.served.start('--search', '--max-bundle-size', `${bytes + 16_000}`);
  const given = ({ search, encodings }: Status) => search.state === 'failed' && encodings.state === 'ready';
  await here.served.until('the search is given up and variants are made', given, slow);
  await here.served.said(/MadeFilesTooLarge.*raise it, or turn the search off/);
  assert.equal((await get('/')).text, page('home v1'));
  const compressed = await ask(here.served.port, '/', ['Accept-Encoding: br']);
  assert.match(compressed.head, /content-encoding: br/i);
});

test('a bundle with a search of its own is served as it is', async () => {
  const content = { ...siteOf('v1'), '_sx/search/index.js': 'its own' };
  await publish('v1', undefined, content);
  await here.served.start('--search');
  await here.served.until('it is recognized', ({ search }) => search.state === 'own', slow);
  assert.equal((await get('/_sx/search/index.js')).text, 'its own');
  assert.equal((await get('/')).text, page('home v1'));
});

test('a site without a page to find is served as it is, and the log says what to check', async () => {
  const hidden = page('hidden').replace('</title>', '</title><meta name=robots content=noindex>');
  await publish('v1', undefined, { 'index.html': hidden });
  await here.served.start('--search');
  await here.served.said(
    /No page may be found by a search, so that nothing was added\. Check the robots meta/,
  );
  assert.equal(await (await fetch(`${here.served.site}/`)).text(), hidden);
  assert.equal((await fetch(`${here.served.site}/_sx/search/search.js`)).status, 404);
});
