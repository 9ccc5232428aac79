// What is read of one body has limits in bytes, references and steps. A body above them is read in part and reported, and
// does not end the crawl.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type BodyKind, type BodyLinks, readableBytes, readLinks } from '#site/references/body-links.ts';
import { readHtmlReferences } from '#site/references/html-references.ts';
import { createLinkPool } from '#site/references/link-pool.ts';
import { readPayload } from '#site/references/next-payload.ts';
import { maxReferences } from '#site/references/reference.ts';
import { createScope, locate } from '#site/site-scope.ts';
import { readSitemap } from '#site/sitemap.ts';
import * as fc from '../../../support/properties.ts';
import { runToItsEnd } from '../../../support/watchdog.ts';
import { crawl, pages, serveSite } from './site-server.ts';

const scope = createScope('docs.example.com', new URL('http://127.0.0.1:4000/'));

function read(kind: BodyKind, body: string | Uint8Array): BodyLinks {
  return readLinks(scope, { path: '/x', query: '' }, kind, '', Buffer.from(body), createLinkPool(scope));
}
const many = (piece: string, count: number): string => piece.repeat(count);
const beyond = maxReferences + 1_000;

const crowds: readonly (readonly [string, BodyKind, string])[] = [
  ['a page with too many links', 'document', many('<a href=/a>', beyond)],
  ['a page with one srcset of too many', 'document', `<img srcset="${many('a 1x,', beyond)}">`],
  ['a page with too many styles', 'document', many('<b style="c:url(a)">', beyond)],
  ['a page with one style of too many', 'document', `<style>${many('url(a) ', beyond)}</style>`],
  ['a style sheet with too many addresses', 'style', many('url(a) ', beyond)],
  ['a sitemap with too many pages', 'sitemap', many('<loc>/a</loc>', beyond)],
  ['a sitemap with too many lines', 'sitemap', many('http://127.0.0.1:4000/a\n', beyond)],
  ['contents with too many links', 'contents', many('[](/a)', beyond)],
];
for (const [name, kind, body] of crowds) {
  test(`${name} is read in part, and says so`, () => {
    const { links, isPartial } = read(kind, body);
    assert.equal(links.length, 1);
    assert.equal(isPartial, true);
    assert.equal(read(kind, body.slice(0, 20_000)).isPartial, false);
  });
}

test('the number of paths of a script is limited', () => {
  const paths = Array.from({ length: beyond }, (_, at) => `"/${at}.js",`).join('');
  const script = read('script', paths);
  assert.deepEqual([script.links.length, script.isPartial], [maxReferences, true]);
  const inline = read('document', `<script>${paths}</script>`);
  assert.deepEqual([inline.links.length, inline.isPartial], [maxReferences, true]);
});

test('the paths of a script are resolved against a limited number of scripts', () => {
  const scripts = Array.from({ length: 5000 }, (_, at) => `<script src=/${at}/a/b.js></script>`).join('');
  const paths = Array.from({ length: 5000 }, (_, at) => `"a/${at}.js",`).join('');
  const { links } = read('document', `${scripts}<script>${paths}</script>`);
  assert.ok(links.length <= maxReferences);
});

for (const kind of ['document', 'style', 'script', 'contents', 'sitemap'] as const) {
  test(`of a large ${kind} the beginning is read, and no byte behind it`, () => {
    const link = { document: '<a href=/a>', style: 'url(/a)', script: '"/a.js"', contents: '[](/a)' };
    const text = kind === 'sitemap' ? '<loc>/a</loc>' : link[kind];
    const body = Buffer.alloc(readableBytes(kind) + 2 * text.length, ' ');
    body.write(text, body.length - text.length);
    assert.deepEqual(read(kind, body).links, []);
    body.write(text, 0);
    const { links, isPartial } = read(kind, body);
    assert.deepEqual([links.length, isPartial], [1, true]);
  });
}

for (const [name, endless] of [
  ['attributes', Array.from({ length: 100_000 }, (_, at) => ` x${at}`).join('')],
  ['letters in its name', many('x', 200_000)],
  ['letters in the name of an attribute', ` ${many('x', 200_000)}`],
] as const) {
  test(`a page is read to a tag of too many ${name}`, () => {
    const { references, isPartial } = readHtmlReferences(`<a href=/a><a${endless}><a href=/b>`);
    assert.deepEqual([references.map(({ text }) => text), isPartial], [['/a'], true]);
  });
}

test('the length of the pieces does not change the references of a page', () => {
  const part = fc.constantFrom(
    '<a href="/a&amp;b">',
    '<script>"/x/y.js"</script>',
    '<script src=/s.js>',
    '<style>a{b:url(c.png)}',
    '</style>',
    '<!-- <a href=/no> -->',
    '<svg><a xlink:href=/v/>',
    '<![CDATA[ <a> ]]>',
    '</svg>',
    '<base href=/b/>',
    '<textarea><a href=/t></textarea>',
    '\r\n',
    '&notit;',
    '\u{1f600}',
    '<img srcset="a 1x, b 2x"',
    "'",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.integer({ min: 1, max: 20 }), (parts, pieceLength) => {
      const html = parts.join('');
      assert.deepEqual(readHtmlReferences(html, pieceLength), readHtmlReferences(html));
    }),
    { numRuns: 500 },
  );
});

test('a refresh of white space takes linear time', () => {
  const page = many(`<meta http-equiv=refresh content="1${many(' ', 4000)}">`, 1000);
  assert.doesNotThrow(() => runToItsEnd(() => void readHtmlReferences(page)));
});

test('a tree of Next.js with a node that is its own child is read to an end', () => {
  const text = '0:{"tree":{"s":"","c":"$1"}}\n1:[["children",{"s":"","c":"$1"}]]\n';
  assert.doesNotThrow(() => runToItsEnd(() => void readPayload('/a/__next._tree.txt', text)));
});

test('a tree of Next.js in which every node has every node as a child is read to an end', () => {
  const children = Array.from({ length: 2000 }, () => '["children",{"s":"","c":"$1"}]').join(',');
  const text = `0:{"tree":{"s":"","c":"$1"}}\n1:[${children}]\n`;
  assert.doesNotThrow(() => runToItsEnd(() => void readPayload('/a/__next._tree.txt', text)));
});

test('a small sitemap that unpacks to megabytes of tags takes linear time', () => {
  for (const tag of ['<loc>', '<xhtml:link ', '<xhtml:link href="', '<loc><![CDATA[', '<!---->']) {
    const bomb = gzipSync(many(tag, Math.floor((8 * 1024 * 1024) / tag.length)), { level: 1 });
    assert.doesNotThrow(() => runToItsEnd(() => void readSitemap(bomb)), tag);
  }
});

test('a very long reference is unsafe, and a large data: URL leads nowhere', () => {
  const base = new URL('http://127.0.0.1:4000/');
  const long = many('a', 9000);
  assert.deepEqual(locate(scope, `/b?${long}`, base), { where: 'unsafe', path: '/b' });
  assert.deepEqual(locate(scope, `data:image/png;base64,${long}`, base), { where: 'nowhere' });
  assert.equal(locate(scope, `/${many('a/', 400)}`, base).where, 'unsafe');
});

test('a page that is read in part is in the bundle unchanged, and in the notes', async (t) => {
  const large = `<a href="/a">${many('<i title="x">', 700_000)}<a href="/b">`;
  const { origin } = await serveSite(t, pages({ '/': large, '/a': 'a', '/b': 'b' }));
  const { files, notes } = await crawl(t, origin);
  assert.deepEqual(
    files.map(({ path, sizeBytes }) => [path, sizeBytes]),
    [
      ['a.html', 1],
      ['index.html', large.length],
    ],
  );
  assert.deepEqual(notes, [{ code: 'PartlyRead', count: 1, example: '/' }]);
});
