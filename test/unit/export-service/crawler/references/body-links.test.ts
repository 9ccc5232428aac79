// From bytes and a content type to addresses: which reader reads what, charsets, bases, and what frameworks leave out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BodyKind,
  type BodyLinks,
  bodyKind,
  readLinks,
} from '#export-service/crawler/references/body-links.ts';
import { createScope } from '#export-service/crawler/site-scope.ts';
import * as fc from '../../../../support/properties.ts';

const scope = createScope('docs.example.com', new URL('http://127.0.0.1:4000/'));

const kinds: readonly (readonly [string, string, BodyKind])[] = [
  ['text/html; charset=utf-8', '/x', 'document'],
  ['TEXT/HTML', '/x.png', 'document'],
  ['application/xhtml+xml', '/x', 'document'],
  ['text/css', '/x', 'style'],
  ['text/plain', '/x.css', 'style'],
  ['text/plain', '/x.txt', 'payload'],
  ['text/markdown', '/x.txt', 'other'],
  ['text/plain', '/x', 'other'],
  ['application/javascript', '/x', 'script'],
  ['text/javascript', '/x.js', 'script'],
  ['application/octet-stream', '/x.mjs', 'script'],
  ['image/svg+xml', '/x', 'picture'],
  ['application/json', '/manifest.json', 'manifest'],
  ['application/json', '/_next/build-manifest.json', 'manifest'],
  ['application/json', '/x.json', 'other'],
  ['', '/site.webmanifest', 'manifest'],
  ['', '/x.html', 'document'],
  ['', '/x', 'document'],
  ['', '/x.bin', 'other'],
];
for (const [type, path, kind] of kinds) {
  test(`"${type}" at ${path} is read as ${kind}`, () => assert.equal(bodyKind(type, path), kind));
}

function read(kind: BodyKind, body: string | Uint8Array, path = '/guides/x', type = ''): BodyLinks {
  return readLinks(scope, { path, query: '' }, kind, type, Buffer.from(body), new Map());
}
const listed = ({ links }: BodyLinks): readonly string[] =>
  links.map(
    ({ use, address, isSitemap }) => `${isSitemap ? 'sitemap' : use} ${address.path}${address.query}`,
  );

test('each address is listed once for each use: pages without their query, assets with it', () => {
  const found = read(
    'document',
    '<a href="y#1"><a href="y?a#2"><a href="./y"><img src="y?a"><img src="y?a#z">',
  );
  assert.deepEqual(listed(found), ['page /guides/y', 'asset /guides/y?a']);
  assert.equal(found.queriesDropped, 1);
});

test('relative references follow <base>, which may be relative too', () => {
  assert.deepEqual(listed(read('document', '<base href="../b/"><a href="y">')), ['page /b/y']);
  assert.deepEqual(listed(read('document', '<base href="https://elsewhere.example/"><a href="y">')), []);
});

test('addresses are decoded with the declared charset', () => {
  const html = Buffer.from('<a href="/\xe9">', 'latin1');
  assert.deepEqual(listed(read('document', html, '/', 'text/html; charset=ISO-8859-1')), ['page /%C3%A9']);
  const declared = Buffer.from('<meta charset="latin1"><a href="/\xe9">', 'latin1');
  assert.deepEqual(listed(read('document', declared, '/', 'text/html')), ['page /%C3%A9']);
  assert.deepEqual(listed(read('document', '<a href="/é">', '/', 'text/html; charset=no-such')), [
    'page /%C3%A9',
  ]);
});

test('a page of VitePress leads to the chunk that its next pages load', () => {
  const html = `<link rel="modulepreload" href="/assets/guides_x.md.H1.lean.js"><script type="module" src="/assets/app.H2.js"></script>
    <script>window.__VP_HASH_MAP__=JSON.parse("{\\"guides_x.md\\":\\"H1\\"}");</script>`;
  assert.deepEqual(listed(read('document', html)), [
    'asset /assets/guides_x.md.H1.lean.js',
    'asset /assets/app.H2.js',
    'hint /assets/guides_x.md.H1.js',
  ]);
});

test('a page of Next.js leads to its data and to the chunks its stream names', () => {
  const html = `<script src="/_next/static/chunks/main.js"></script>
    <script>self.__next_f.push([1,"[\\"static/chunks/app/page-1.js\\"]"])</script>`;
  const found = ['asset /_next/static/chunks/main.js', 'hint /_next/static/chunks/app/page-1.js'];
  assert.deepEqual(listed(read('document', html)), [...found, 'hint /guides/x.txt']);
  assert.deepEqual(listed(read('document', html, '/guides/')), [...found, 'hint /guides/index.txt']);
});

test('a sitemap leads to pages and to sitemaps, contents to pages', () => {
  const index = '<sitemapindex><loc>/a.xml?x=1</loc></sitemapindex>';
  assert.deepEqual(listed(read('sitemap', index)), ['sitemap /a.xml?x=1']);
  assert.deepEqual(listed(read('sitemap', '<urlset><loc>https://docs.example.com/a</loc></urlset>')), [
    'page /a',
  ]);
  assert.deepEqual(listed(read('contents', '- [A](/a.md)')), ['page /a.md']);
});

test('an asset of another host is named once, without its query; a link to another host is not', () => {
  const found = read(
    'document',
    '<img src="//c.example/a.png?t=1"><img src="//c.example/a.png?t=2"><a href="//d.example/">',
  );
  assert.deepEqual(found.external, ['c.example/a.png']);
});

test('references that spell out the origin are counted', () => {
  const html = '<a href="http://127.0.0.1:4000/a"><img src="http://127.0.0.1:4000/b"><a href="/c">';
  assert.equal(read('document', html).originSpelled, 2);
});

test('no bytes of any kind make reading throw', () => {
  const kind = fc.constantFrom<BodyKind>(
    'document',
    'style',
    'script',
    'picture',
    'manifest',
    'sitemap',
    'contents',
    'other',
  );
  fc.assert(
    fc.property(kind, fc.uint8Array({ maxLength: 300 }), fc.string(), (as, bytes, type) => {
      for (const { address } of readLinks(scope, { path: '/x', query: '' }, as, type, bytes, new Map())
        .links) {
        assert.ok(address.path.startsWith('/'));
      }
    }),
    { numRuns: 200 },
  );
});
