// What the check of a site finds: loads of other hosts, missing files, its bounds and its order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentTypeOf } from '#bundle/content-type.ts';
import { buildRouteTable } from '#server/content/route-table.ts';
import {
  type CheckRules,
  checkSite,
  type FoundList,
  type FoundLoad,
  maxCheckedBytes,
  maxListed,
} from '#site/check/site-check.ts';

const noRules: CheckRules = { basePath: '', allowedHosts: [] };

/** @param texts by path */
function check(texts: Readonly<Record<string, string>>, rules: Partial<CheckRules> = {}) {
  const files = Object.entries(texts).map(([path, text]) => ({
    path,
    size: Buffer.byteLength(text),
    contentType: contentTypeOf(path),
  }));
  const rows = files.map((file) => ({ ...file, offset: 0, sha256: 'a'.repeat(64) }));
  return checkSite(
    {
      files,
      routes: buildRouteTable({ digest: 'd', files: rows }),
      read: async ({ path }) => Buffer.from(texts[path] ?? ''),
    },
    { ...noRules, ...rules },
  );
}

const words = ({ entries }: FoundList<FoundLoad>): readonly string[] =>
  entries.map(({ address, use, from, files }) => `${address} ${use} ${from} ${files}`);

test('a site that has all it loads is clean', async () => {
  const found = await check({
    'index.html':
      '<link rel=stylesheet href=a.css><img src="/b%20c.png"><a href="https://other.example/">o</a>',
    'a.css': 'a { b: url("data:image/png;base64,AA"), url(#c), url("b c.png?v=1#d") }',
    'b c.png': '',
    'guide/index.html':
      '<iframe src="/guide/"></iframe><img src="../b c.png"><script src="/guide/x"></script>',
    'guide/x.html': '',
  });
  for (const list of [found.external, found.allowed, found.missing, found.notes, found.notRead]) {
    assert.deepEqual(list, { count: 0, entries: [] });
  }
  assert.equal(found.filesRead, 4);
});

test('a load of another host stands once, with the first file that has it and how many have it', async () => {
  const found = await check({
    'a.html':
      '<script src="https://cdn.example/x.js?key=1"></script><script src=//cdn.example/x.js></script>',
    'b.html': '<script src="https://cdn.example/x.js?key=2"></script><img src="http://p.example:81/q.png">',
    'c.css': '@font-face { src: url(https://f.example/g.woff2) } @import "//cdn.example/d.css";',
    'd.svg': '<svg xmlns="http://www.w3.org/2000/svg"><image href="https://i.example/j.png"/></svg>',
    'site.webmanifest': '{"icons":[{"src":"https://i.example/k.png"}]}',
  });
  assert.deepEqual(words(found.external), [
    'cdn.example/x.js script a.html 2',
    'p.example:81/q.png picture b.html 1',
    'f.example/g.woff2 font c.css 1',
    'cdn.example/d.css style c.css 1',
    'i.example/j.png picture d.svg 1',
    'i.example/k.png picture site.webmanifest 1',
  ]);
  assert.equal(found.external.count, 6);
});

test('a load of an allowed host is listed apart', async () => {
  const texts = { 'a.html': '<img src=//a.example/1><img src=//b.example/2>' };
  const found = await check(texts, { allowedHosts: ['a.example'] });
  assert.deepEqual(words(found.allowed), ['a.example/1 picture a.html 1']);
  assert.deepEqual(words(found.external), ['b.example/2 picture a.html 1']);
});

test('a picture of another host that a script shows later is external, as for a crawl', async () => {
  const found = await check({ 'a.html': '<img data-src=//v.example/3>' });
  assert.deepEqual(words(found.external), ['v.example/3 late a.html 1']);
});

test('frames, videos and connections of other hosts are notes', async () => {
  const found = await check({
    'a.html':
      '<iframe src=//v.example/1></iframe><video src=//v.example/2></video><link rel=preconnect href=//v.example>',
  });
  assert.equal(found.external.count, 0);
  assert.deepEqual(words(found.notes), [
    'v.example/1 frame a.html 1',
    'v.example/2 video a.html 1',
    'v.example/ connection a.html 1',
  ]);
});

test('a load of the site that has no file is missing, and a prefetch or a late load is not', async () => {
  const found = await check({
    'guide/a.html':
      '<img src=b.png?c=1><script src="/d.js"></script><iframe src="e"></iframe><link rel=prefetch href=f><img data-src=g>',
  });
  assert.deepEqual(words(found.missing), [
    '/guide/b.png picture guide/a.html 1',
    '/d.js script guide/a.html 1',
    '/guide/e frame guide/a.html 1',
  ]);
});

test('a site below a base path has its rooted loads there alone', async () => {
  const texts = { 'a.html': '<img src="/docs/b.png"><img src="/b.png"><img src=b.png>', 'b.png': '' };
  assert.deepEqual(words((await check(texts, { basePath: '/docs' })).missing), ['/b.png picture a.html 1']);
});

test('the base of a page counts for what comes after it', async () => {
  const found = await check({
    'g/a.html': '<img src=b.png><base href="https://h.example/i/"><img src=b.png>',
    'g/b.png': '',
  });
  assert.deepEqual(words(found.external), ['h.example/i/b.png picture g/a.html 1']);
  assert.equal(found.missing.count, 0);
});

test('a text that is too large is not read, and counts', async () => {
  const found = await check({
    'a.html': `<img src=//a.example/b>${' '.repeat(maxCheckedBytes)}`,
    'c.html': '',
  });
  assert.deepEqual(found.notRead, { count: 1, entries: [{ path: 'a.html', reason: 'TooLarge' }] });
  assert.deepEqual([found.filesRead, found.external.count], [1, 0]);
});

test('a page with a tag without end counts as malformed', async () => {
  const attributes = Array.from({ length: 70_000 }, (_, at) => ` a${at}`).join('');
  const found = await check({ 'a.html': `<img src=//a.example/b><p${attributes}` });
  assert.deepEqual(found.notRead.entries, [{ path: 'a.html', reason: 'Malformed' }]);
  assert.equal(found.external.count, 1);
});

test('a list is bounded, and its count is whole', async () => {
  const pictures = Array.from({ length: 1000 }, (_, at) => `<img src=//a.example/${at}>`).join('');
  const { external } = await check({ 'a.html': pictures });
  assert.deepEqual([external.count, external.entries.length], [1000, maxListed]);
  assert.equal(external.entries[0]?.address, 'a.example/0');
});

test('a text of another charset is read in it', async () => {
  const found = await checkSite(
    {
      files: [{ path: 'a.html', size: 9, contentType: 'text/html; charset=windows-1252' }],
      routes: buildRouteTable({ digest: 'd', files: [] }),
      read: async () => Buffer.from('<img src=\xe9.png>', 'latin1'),
    },
    noRules,
  );
  assert.deepEqual(words(found.missing), ['/%C3%A9.png picture a.html 1']);
});
