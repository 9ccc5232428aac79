// From bytes and a content type to addresses: which reader reads what, charsets, bases, and what frameworks leave out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BodyKind, type BodyLinks, bodyKind, readLinks } from '#site/references/body-links.ts';
import { createLinkPool } from '#site/references/link-pool.ts';
import { createScope } from '#site/site-scope.ts';
import * as fc from '../../../support/properties.ts';

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
  ['', '/pagefind/fragment/en_13dbd6a.pf_fragment', 'other'],
  ['', '/x.woff2', 'other'],
  ['', '/v1.2', 'document'],
];
for (const [type, path, kind] of kinds) {
  test(`"${type}" at ${path} is read as ${kind}`, () => assert.equal(bodyKind(type, path), kind));
}

function read(kind: BodyKind, body: string | Uint8Array, path = '/guides/x', type = ''): BodyLinks {
  return readLinks(scope, { path, query: '' }, kind, type, Buffer.from(body), createLinkPool(scope));
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

/** `/привет` in windows-1251, `/ガイド` in Shift_JIS, as bytes. */
const russian = Buffer.from([0x2f, 0xef, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
const japanese = Buffer.from([0x2f, 0x83, 0x4b, 0x83, 0x43, 0x83, 0x68]);
const asLink = (head: string, address: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from('<a href="'), address, Buffer.from('">')]);
const inRussian = ['page /%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82'];
const inJapanese = ['page /%E3%82%AC%E3%82%A4%E3%83%89'];
const inUtf8 = ['page /%C3%A9'];
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

const charsets: readonly (readonly [string, Uint8Array, string, readonly string[]])[] = [
  ['the header', asLink('', russian), 'text/html; charset=windows-1251', inRussian],
  ['the header, with quotes', asLink('', japanese), 'text/html;charset="Shift_JIS"; x=y', inJapanese],
  ['<meta charset>', asLink('<meta charset=shift_jis>', japanese), 'text/html', inJapanese],
  [
    '<meta http-equiv>',
    asLink('<META content="text/html; charset=windows-1251" HTTP-EQUIV="Content-Type">', russian),
    'text/html',
    inRussian,
  ],
  [
    'a <meta> behind a long script',
    asLink(`<script>${'x'.repeat(3000)}</script><meta charset=cp1251>`, russian),
    'text/html',
    inRussian,
  ],
  ['an XML declaration', asLink('<?xml version="1.0" encoding="windows-1251"?>', russian), '', inRussian],
  [
    'the header, although the page declares another',
    asLink('<meta charset=utf-8>', russian),
    'text/html; charset=cp1251',
    inRussian,
  ],
  [
    'a byte order mark, although header and page declare others',
    asLink('\xef\xbb\xbf<meta charset=shift_jis>', Buffer.from('/é')),
    'text/html; charset=windows-1251',
    inUtf8,
  ],
  ['a byte order mark of UTF-16', utf16('<a href="/é">'), 'text/html; charset=utf-8', inUtf8],
  [
    'the page, if no browser knows the header’s',
    asLink('<meta charset=cp1251>', russian),
    'text/html; charset=no-such',
    inRussian,
  ],
  [
    'UTF-8, if a page that is read as bytes declares UTF-16',
    asLink('<meta charset=utf-16>', Buffer.from('/é')),
    '',
    inUtf8,
  ],
  [
    'UTF-8, if only a comment has a declaration',
    asLink('<!-- <meta charset=cp1251> -->', Buffer.from('/é')),
    '',
    inUtf8,
  ],
  [
    'UTF-8, if only a description speaks of a charset',
    asLink('<meta name=description content="charset=cp1251">', Buffer.from('/é')),
    '',
    inUtf8,
  ],
];
for (const [name, body, type, expected] of charsets) {
  test(`links are read in the charset of ${name}`, () =>
    assert.deepEqual(listed(read('document', body, '/', type)), expected));
}

test('a style sheet may declare its charset', () => {
  const sheet = Buffer.concat([
    Buffer.from('@charset "windows-1251"; a{b:url("'),
    russian,
    Buffer.from('")}'),
  ]);
  assert.deepEqual(listed(read('style', sheet)), ['asset /%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82']);
});

test('a <base> that comes late counts for links, and not for assets in front of it', () => {
  const found = read('document', '<img src="i.png"><a href="y"><base href="/b/"><img src="j.png">');
  assert.deepEqual(listed(found), ['asset /guides/i.png', 'page /b/y', 'asset /b/j.png']);
});

test('a <base> that is empty, broken, or of data is ignored, as browsers do', () => {
  for (const base of ['', 'http://[', 'data:text/html,x', 'javascript:x()']) {
    assert.deepEqual(listed(read('document', `<base href="${base}"><a href="y">`)), ['page /guides/y'], base);
  }
});

test('a <base> under the public name is on the site, and one off the site makes assets external', () => {
  const own = read('document', '<base href="https://docs.example.com/b/"><a href="y">');
  assert.deepEqual(listed(own), ['page /b/y']);
  const other = read('document', '<base href="//cdn.example.net/b/"><img src="y.png"><a href="/z">');
  assert.deepEqual([listed(other), names(other)], [[], ['load cdn.example.net/b/y.png']]);
  assert.equal(read('document', '<base href="http://127.0.0.1:4000/">').originSpelled, 1);
});

test('a page of VitePress leads to the chunk that its next pages load', () => {
  const html = `<link rel="modulepreload" href="/assets/guides_x.md.H1.lean.js"><script type="module" src="/assets/app.H2.js"></script>
    <script>window.__VP_HASH_MAP__=JSON.parse("{\\"guides_x.md\\":\\"H1\\"}");</script>`;
  assert.deepEqual(listed(read('document', html)), [
    'asset /assets/guides_x.md.H1.lean.js',
    'asset /assets/app.H2.js',
    'hint /assets/guides_x.md.H1.js',
    'hint /hashmap.json',
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

const names = ({ external }: BodyLinks): readonly string[] =>
  external.map(({ kind, name }) => `${kind} ${name}`);

test('an asset of another host is named without its query; a link to another host is not', () => {
  const found = read(
    'document',
    '<img src="//c.example/a.png?t=1"><img src="//c.example/a.png?t=2"><a href="//d.example/">',
  );
  assert.deepEqual(names(found), ['load c.example/a.png', 'load c.example/a.png']);
  assert.deepEqual(
    found.external.map(({ href }) => href),
    ['https://c.example/a.png?t=1', 'https://c.example/a.png?t=2'],
  );
});

test('a frame, a video and a connection of another host are not loads, and an imported module is one', () => {
  const found = read(
    'document',
    '<iframe src="https://v.example/1"></iframe><video src="//v.example/2" poster="//v.example/3">' +
      '<link rel=preconnect href=https://f.example><link rel="prefetch" href="https://f.example/next">' +
      '<script type=module>import m from "https://m.example/m.js"; const s = "import x from \\"https://no.example/x\\"";</script>',
  );
  assert.deepEqual(names(found), [
    'embedded v.example/1',
    'embedded v.example/2',
    'load v.example/3',
    'connection f.example/',
    'connection f.example/next',
    'load m.example/m.js',
  ]);
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
      for (const { address } of readLinks(
        scope,
        { path: '/x', query: '' },
        as,
        type,
        bytes,
        createLinkPool(scope),
      ).links) {
        assert.ok(address.path.startsWith('/'));
      }
    }),
    { numRuns: 200 },
  );
});
