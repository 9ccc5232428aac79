// The Markdown that a server makes of a site, over HTTP: who gets it, under which addresses, what pages say of it, and that no version
// answers for another. The bundle and its digest stay as they are.

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
const page = (title: string, more = ''): string =>
  `<!doctype html><html lang=en><head><title>${title}</title></head><body><nav>menu</nav><main><h1>${title}</h1>${`<p>About ${title}.</p>`.repeat(60)}<a href="/docs/guide/">guide</a>${more}</main></body></html>`;
const withLink = (html: string, address: string): string =>
  html.replace('</head>', `<link rel="alternate" type="text/markdown" href="${address}"></head>`);
const siteOf = (version: string): SiteContent => ({
  'index.html': page(`home ${version}`),
  '404.html': page('lost'),
  'guide/index.html': page('guide'),
  'own.html': page('own'),
  'own/index.html.md': '# written by hand\n',
  'part.html': `<main><h1>Part</h1>${'<p>part</p>'.repeat(200)}</main>`,
  'style.css': 'p { margin: 0 }\n'.repeat(100),
});

const publish = (version: string, content = siteOf(version), basePath?: string): Promise<void> =>
  here.publish(version, content, basePath);

const markdownReady = (version: string): Promise<Status> =>
  here.served.until(
    `the Markdown of ${version} is served`,
    ({ active, markdown, encodings }) =>
      active?.version === version && markdown.state === 'ready' && encodings.state === 'ready',
    slow,
  );

async function get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const response = await fetch(here.served.site + path, {
    method,
    redirect: 'manual',
    headers: { 'accept-encoding': 'identity', ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const asMarkdown = { accept: 'text/markdown, text/html;q=0.9' };
const markdownType = 'text/markdown; charset=utf-8';
const tagOf = (text: string): string => `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`;

for (const fastPath of ['true', 'false']) {
  test(`agents get a page as Markdown, and others the page that names it (fast path: ${fastPath})`, async () => {
    await publish('v1');
    await here.served.start('--markdown', '--fast-path', fastPath);
    const { active, markdown } = await markdownReady('v1');
    assert.equal(active?.digest, siteDigest(siteOf('v1')), 'the published digest');
    assert.deepEqual([markdown.pages, markdown.leftOutPages], [4, 0]);

    const expected = withLink(page('home v1'), '/index.md');
    for (const accept of ['*/*', 'text/*', 'text/html, text/markdown;q=0.9', 'text/html,*/*;q=0.8']) {
      const html = await get('/', { accept });
      assert.deepEqual([html.status, html.text], [200, expected], accept);
      assert.equal(html.headers.get('link'), '</index.md>; rel="alternate"; type="text/markdown"');
      assert.equal(html.headers.get('vary'), 'Accept, Accept-Encoding');
      assert.equal(html.headers.get('etag'), tagOf(expected));
      assert.equal(html.headers.get('x-robots-tag'), null);
    }

    const text = await get('/', asMarkdown);
    assert.equal(text.status, 200);
    assert.match(text.text, /^# home v1\n\nAbout home v1\.\n/);
    assert.match(text.text, /\[guide\]\(\/docs\/guide\/\)/);
    assert.ok(!text.text.includes('menu'));
    const fields = ['content-type', 'x-robots-tag', 'vary', 'link', 'etag'].map((name) =>
      text.headers.get(name),
    );
    assert.deepEqual(fields, [markdownType, 'noindex', 'Accept, Accept-Encoding', null, tagOf(text.text)]);

    const head = await get('/', asMarkdown, 'HEAD');
    assert.equal(head.headers.get('content-length'), `${Buffer.byteLength(text.text)}`);
    assert.equal(head.headers.get('etag'), tagOf(text.text));
    const known = { 'if-none-match': tagOf(text.text) };
    assert.equal((await get('/', { ...asMarkdown, ...known })).status, 304);
    assert.equal((await get('/', known)).status, 200, 'the page is not what the client has');
    assert.equal((await get('/', { ...asMarkdown, 'if-match': tagOf(expected) })).status, 412);
    const part = await get('/', { ...asMarkdown, range: 'bytes=2-8', 'if-range': tagOf(text.text) });
    assert.deepEqual([part.status, part.text], [206, text.text.slice(2, 9)]);

    const compressed = await ask(here.served.port, '/', ['Accept: text/markdown', 'Accept-Encoding: br']);
    assert.match(compressed.head, /content-encoding: br/i);
    assert.match(compressed.head, /content-type: text\/markdown/i);
    assert.equal(brotliDecompressSync(Buffer.from(compressed.body, 'latin1')).toString(), text.text);
    const page2 = await ask(here.served.port, '/', ['Accept-Encoding: br']);
    assert.equal(brotliDecompressSync(Buffer.from(page2.body, 'latin1')).toString(), expected);
  });
}

test('each spelling of an address leads to the Markdown, and the site’s own wins', async () => {
  await publish('v1');
  await here.served.start('--markdown');
  await markdownReady('v1');
  const { text } = await get('/guide/', asMarkdown);
  assert.match(text, /^# guide\n/);
  for (const path of [
    '/guide.md',
    '/guide/index.html.md',
    '/guide.html.md',
    '/guide/index.md',
    '/guide.md?x',
  ]) {
    const found = await get(path);
    assert.deepEqual([found.status, found.text], [200, text], path);
    const fields = ['content-type', 'x-robots-tag', 'vary'].map((name) => found.headers.get(name));
    assert.deepEqual(fields, [markdownType, 'noindex', 'Accept-Encoding'], path);
  }
  for (const path of ['/own.md', '/own/index.html.md', '/own.html.md']) {
    const found = await get(path);
    assert.equal(found.text, '# written by hand\n', path);
    assert.equal(found.headers.get('x-robots-tag'), 'noindex', path);
  }
  assert.equal((await get('/own', asMarkdown)).text, '# written by hand\n');
  assert.equal((await get('/own')).text, withLink(page('own'), '/own/index.html.md'));
  assert.equal((await get('/own')).headers.get('link')?.split(';', 1)[0], '</own/index.html.md>');
  // A fragment cannot take the line.
  const part = await get('/part');
  assert.equal(part.text, siteOf('v1')['part.html']);
  assert.equal(part.headers.get('link')?.split(';', 1)[0], '</part.md>');
  assert.match((await get('/part', asMarkdown)).text, /^# Part\n/);
  for (const path of ['/style.css', '/nowhere', '/404']) {
    const other = await get(path, asMarkdown);
    assert.ok(!(other.headers.get('content-type') ?? '').includes('markdown'), path);
    assert.ok(!(other.headers.get('vary') ?? '').includes('Accept,'), path);
    assert.equal(other.headers.get('link'), null, path);
  }
  assert.equal((await get('/nowhere.md')).status, 404);
  assert.equal((await get('/guide', asMarkdown)).status, 301);
});

test('lists are made where the site has none, and addresses have the base path', async () => {
  await publish('v1', siteOf('v1'), '/docs');
  await here.served.start('--markdown');
  await markdownReady('v1');
  const list = await get('/docs/llms.txt');
  assert.match(list.text, /^# home v1\n\n## /);
  assert.match(list.text, /\n- \[guide\]\(\/docs\/guide\.md\)\n/);
  assert.match(list.text, /\n- \[own\]\(\/docs\/own\/index\.html\.md\)\n/);
  assert.match((await get('/docs/llms-full.txt')).text, /\n---\n\n# guide\n/);
  assert.equal((await get('/docs/')).text, withLink(page('home v1'), '/docs/index.md'));
  const guide = await get('/docs/guide/');
  assert.equal(guide.headers.get('link'), '</docs/guide.md>; rel="alternate"; type="text/markdown"');
  assert.match((await get('/docs/guide.md')).text, /^# guide\n/);

  const lists = { 'llms.txt': 'own list', 'llms-full.txt': 'own text' };
  await publish('v2', { ...siteOf('v2'), ...lists }, '/docs');
  await markdownReady('v2');
  assert.equal((await get('/docs/llms.txt')).text, 'own list');
  assert.equal((await get('/docs/llms-full.txt')).text, 'own text');
});

test('what readers do not reach is in no Markdown and in no list', async () => {
  const hidden = { '.internal/plans.html': page('secret plans'), _redirects: 'secret plans' };
  await publish('v1', { ...siteOf('v1'), ...hidden });
  await here.served.start('--markdown');
  await markdownReady('v1');
  for (const path of ['/.internal/plans.md', '/.internal/plans.html', '/404.md', '/_redirects']) {
    assert.equal((await get(path, asMarkdown)).status, 404, path);
  }
  for (const path of ['/llms.txt', '/llms-full.txt'])
    assert.ok(!(await get(path)).text.includes('plans'), path);
});

test('no Markdown of a former version is sent, neither while that of the next one is made nor after', async () => {
  await publish('v1');
  await here.served.start('--markdown');
  await markdownReady('v1');
  assert.equal((await get('/guide.md')).status, 200);
  const { 'guide/index.html': _, ...next } = siteOf('v2');
  await publish('v2', next);
  await here.served.until('v2 is active', ({ active }) => active?.version === 'v2', { everyMs: 1 });
  for (const path of ['/guide.md', '/guide/index.html.md']) assert.equal((await get(path)).status, 404, path);
  const home = await get('/', asMarkdown);
  assert.ok(home.text.includes('home v2'), 'the page, or its own Markdown');
  const list = await get('/llms.txt');
  assert.ok(list.status === 404 || list.text.startsWith('# home v2'));
  await markdownReady('v2');
  assert.match((await get('/', asMarkdown)).text, /^# home v2\n/);
  assert.match((await get('/index.md')).text, /^# home v2\n/);
  assert.equal((await get('/guide.md')).status, 404);
});

test('a restart finds the Markdown of the disk; one that is damaged is made again and never sent', async () => {
  await publish('v1');
  await here.served.start('--markdown');
  const { active } = await markdownReady('v1');
  const { text } = await get('/guide.md');
  const folder = join(here.served.store, 'bundles', active?.digest ?? '');
  const restart = async (...flags: readonly string[]): Promise<boolean> => {
    await here.served.kill();
    const before = here.served.output().length;
    await here.served.start('--markdown', ...flags);
    await markdownReady('v1');
    const said = /"isFound":(true|false)[^\n]*the Markdown of the site is served/;
    const [, isFound] = said.exec(here.served.output().slice(before)) ?? [];
    assert.equal((await get('/guide.md')).text, text);
    return isFound === 'true';
  };
  assert.equal(await restart(), true);
  const made = await readFile(join(folder, 'made'));
  made[0] = (made[0] ?? 0) ^ 1;
  await writeFile(join(folder, 'made'), made);
  assert.equal(await restart(), false);
});

test('a search and Markdown are made together, and a start without a flag takes back what it added', async () => {
  await publish('v1');
  await here.served.start('--markdown', '--search');
  const { active } = await markdownReady('v1');
  await here.served.said(/the search and the Markdown of the site are served/);
  const script = '<script defer src="/_sx/search/search.js"></script>';
  assert.equal(
    (await get('/')).text,
    withLink(page('home v1'), '/index.md').replace('</head>', `${script}</head>`),
  );
  assert.equal((await here.served.status()).search.state, 'ready');
  await here.served.kill();
  await here.served.start();
  await here.served.until('variants are made', ({ encodings }) => encodings.state === 'ready', slow);
  const { markdown } = await here.served.status();
  assert.deepEqual(markdown, { state: 'off', files: 0, pages: 0, sizeBytes: 0, leftOutPages: 0 });
  const plain = await get('/', asMarkdown);
  assert.equal(plain.text, page('home v1'));
  assert.deepEqual(
    ['link', 'vary', 'content-type'].map((name) => plain.headers.get(name)),
    [null, 'Accept-Encoding', 'text/html; charset=utf-8'],
  );
  for (const path of ['/guide.md', '/llms.txt', '/own.md']) assert.equal((await get(path)).status, 404, path);
  assert.equal((await get('/own/index.html.md')).headers.get('x-robots-tag'), null);
  const left = await readdir(join(here.served.store, 'bundles', active?.digest ?? ''));
  assert.deepEqual(left.toSorted(), ['index', 'pack', 'variants', 'variants-index']);
});

test('pages that are too large are counted in the log and in the status, and are served as they are', async () => {
  const large = page('large', '<p>word</p>'.repeat(800_000));
  await publish('v1', { ...siteOf('v1'), 'large.html': large });
  await here.served.start('--markdown');
  const { markdown } = await markdownReady('v1');
  assert.deepEqual([markdown.pages, markdown.leftOutPages], [4, 1]);
  await here.served.said(/"leftOutPages":1[^\n]*pages of more than 8 MiB have no Markdown/);
  const found = await get('/large', asMarkdown);
  assert.equal(found.text, large);
  assert.deepEqual([found.headers.get('link'), found.headers.get('vary')], [null, 'Accept-Encoding']);
});

test('Markdown that exceeds the limit of the bundle is left out, and the site is served and precompressed', async () => {
  // The archive fits with the headers of its format, and the Markdown of its largest page does not.
  const site = { ...siteOf('v1'), 'long.html': page('long', `<p>${'word '.repeat(20_000)}</p>`) };
  const bytes = Object.values(site).reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  await publish('v1', site);
  await here.served.start('--markdown', '--max-bundle-size', `${bytes + 16_000}`);
  const given = ({ markdown, encodings }: Status) =>
    markdown.state === 'failed' && encodings.state === 'ready';
  await here.served.until('the Markdown is given up and variants are made', given, slow);
  await here.served.said(/MadeFilesTooLarge.*raise it, or turn the Markdown off/);
  const home = await get('/', asMarkdown);
  assert.deepEqual([home.text, home.headers.get('link')], [page('home v1'), null]);
});
