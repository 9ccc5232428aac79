// Crawls of a Next.js server that runs: what a visitor's clicks ask for is in the export, though no page names it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crawl, serveSite, textsOf } from './site-server.ts';

const html = { 'content-type': 'text/html' };
const script = { 'content-type': 'text/javascript' };
const shell = '<script src="/_next/static/chunks/main.js"></script>';
const client = 'a=["text/x-component","_rsc"]';

test('data that a server gives for a header are files, and its client asks for them', async (t) => {
  const { origin } = await serveSite(t, (path, { headers }) => {
    const page = path.replace('?_rsc', '');
    if (page === '/_next/static/chunks/main.js') return { headers: script, body: client };
    if (page !== '/' && page !== '/guides/x') return undefined;
    if (headers['rsc'] !== '1') return { headers: html, body: `${shell}<a href="/guides/x">x</a>` };
    // As its current versions do where the query is missing.
    if (!path.endsWith('?_rsc')) return { status: 307, headers: { location: `${page}?_rsc` } };
    return { headers: { 'content-type': 'text/x-component' }, body: `0:{"p":"${page}"}` };
  });
  const result = await crawl(t, origin);
  const texts = await textsOf(result);
  assert.deepEqual(Object.keys(texts), [
    ...['_next/static/chunks/main.js', 'guides/x.html', 'guides/x.txt', 'index.html', 'index.txt'],
  ]);
  assert.equal(texts['guides/x.txt'], '0:{"p":"/guides/x"}');
  assert.equal(texts['index.txt'], '0:{"p":"/"}');
  assert.ok(texts['_next/static/chunks/main.js']?.endsWith(client));
  assert.notEqual(texts['_next/static/chunks/main.js'], client);
  assert.deepEqual(result.skipped, []);
});

test('an origin without such data keeps its scripts, whatever it answers at the page', async (t) => {
  const { origin } = await serveSite(t, (path) => {
    if (path.endsWith('main.js')) return { headers: script, body: client };
    return path.startsWith('/?') || path === '/' ? { headers: html, body: shell } : undefined;
  });
  const texts = await textsOf(await crawl(t, origin));
  assert.deepEqual(texts, { '_next/static/chunks/main.js': client, 'index.html': shell });
});

test('the data of the Pages Router are in the export', async (t) => {
  const data = '{"props":{},"page":"/x","query":{},"buildId":"b-1_2","isFallback":false,"gsp":true}';
  const { origin } = await serveSite(t, (path) => {
    if (path === '/_next/data/b-1_2/index.json')
      return { headers: { 'content-type': 'application/json' }, body: '{}' };
    if (path.endsWith('main.js')) return { headers: script, body: '' };
    return path === '/'
      ? { headers: html, body: `<script id="__NEXT_DATA__" type="application/json">${data}</script>${shell}` }
      : undefined;
  });
  const texts = await textsOf(await crawl(t, origin));
  assert.equal(texts['_next/data/b-1_2/index.json'], '{}');
});
