// Sitemaps in all published forms, valid and broken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readLlmsText, readSitemap } from '#site/sitemap.ts';
import * as fc from '../../support/properties.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const list =
  '<?xml version="1.0"?><urlset><url><loc> https://d/a </loc></url><url><loc>https://d/b?x=1&amp;y=2</loc></url></urlset>';

const rows: readonly (readonly [string, Uint8Array, readonly string[], readonly string[]])[] = [
  ['a list of pages', bytes(list), ['https://d/a', 'https://d/b?x=1&y=2'], []],
  ['a list of pages, gzip', gzipSync(list), ['https://d/a', 'https://d/b?x=1&y=2'], []],
  [
    'an index',
    bytes('<sitemapindex><sitemap><loc>https://d/1.xml</loc></sitemap></sitemapindex>'),
    [],
    ['https://d/1.xml'],
  ],
  [
    'a namespace prefix',
    bytes('<s:urlset><s:url><s:loc>https://d/a</s:loc></s:url></s:urlset>'),
    ['https://d/a'],
    [],
  ],
  [
    'CDATA',
    bytes('<urlset><loc><![CDATA[https://d/a?x=1&y=2]]></loc></urlset>'),
    ['https://d/a?x=1&y=2'],
    [],
  ],
  ['numeric references', bytes('<urlset><loc>https://d/&#233;&#xE9;</loc></urlset>'), ['https://d/éé'], []],
  [
    'translations',
    bytes(
      '<urlset><loc>https://d/a</loc><xhtml:link rel="alternate" hreflang="de" href="https://d/de/a"/></urlset>',
    ),
    ['https://d/a', 'https://d/de/a'],
    [],
  ],
  [
    'a comment',
    bytes('<urlset><!-- <loc>https://d/no</loc> --><loc>https://d/a</loc></urlset>'),
    ['https://d/a'],
    [],
  ],
  ['plain text', bytes('https://d/a\r\nhttps://d/b\nnot a page\n'), ['https://d/a', 'https://d/b'], []],
  ['an empty list, as sites give that ask not to be indexed', bytes('<urlset></urlset>'), [], []],
  ['cut off in the middle', bytes('<urlset><loc>https://d/a</loc><loc>https://d/'), ['https://d/a'], []],
  ['gzip that is not', Uint8Array.of(0x1f, 0x8b, 1, 2, 3), [], []],
  ['nothing', new Uint8Array(), [], []],
];
for (const [name, input, pages, sitemaps] of rows) {
  test(`sitemap: ${name}`, () => assert.deepEqual(readSitemap(input), { pages, sitemaps }));
}

test('a sitemap that unpacks to more than its limit is not read', () => {
  const bomb = gzipSync(Buffer.concat([Buffer.from(list), Buffer.alloc(50 * 1024 * 1024, ' ')]), {
    level: 1,
  });
  assert.deepEqual(readSitemap(bomb), { pages: [], sitemaps: [] });
});

test('comments and locations without an end take linear time', () => {
  const { pages } = readSitemap(bytes(`<urlset>${'<loc>'.repeat(100_000)}${'<!--'.repeat(100_000)}`));
  assert.deepEqual(pages, []);
});

test('no bytes make the reader throw', () => {
  const pieces = fc.constantFrom(
    '<loc>',
    '</loc>',
    '<!--',
    '-->',
    '<sitemapindex>',
    '&#x110000;',
    '&#99999999;',
    '&amp',
    '<![CDATA[',
    ']]>',
    '<xhtml:link href="',
    '"',
    'a',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.array(pieces).map((parts) => bytes(parts.join(''))),
      ),
      (input) => {
        assert.ok(Array.isArray(readSitemap(input).pages));
      },
    ),
    { numRuns: 200 },
  );
});

test('llms.txt: the addresses of its Markdown links', () => {
  const text = '# Docs\n\n- [A](https://d/a.md): first\n- [B]( </b.md> "title")\n[c] (no)\n[d](#x)';
  assert.deepEqual(readLlmsText(text), ['https://d/a.md', '/b.md', '#x']);
});
