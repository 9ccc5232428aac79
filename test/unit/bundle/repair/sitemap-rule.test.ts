// Sitemaps before and after: addresses as a bundle server answers them, entries of pages that exist, and the host as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repaired } from './repaired-site.ts';

const pages = {
  'index.html': 'h',
  'a.html': 'a',
  'b/index.html': 'b',
  'ä à.html': 'c',
  'd&e.html': 'd',
  'f.pdf': 'f',
};
const entry = (address: string, more = '') => `\n  <url>\n    <loc>${address}</loc>${more}\n  </url>`;
const map = (...entries: readonly string[]) =>
  `<?xml version="1.0"?>\n<urlset xmlns="x">${entries.join('')}\n</urlset>\n`;
const after = async (source: string, name = 'sitemap.xml') =>
  (await repaired({ ...pages, [name]: source })).site[name];

test('each entry gets the address that is answered, and keeps its host and the rest', async () => {
  const before = map(
    entry('https://undefined.example.com'),
    entry('https://h/a/', '<lastmod>2026-11-01</lastmod>'),
    entry('https://h/b.html?x=1&amp;y#z'),
    entry('https://h/b'),
    entry('<![CDATA[ https://h/a.html ]]>'),
    entry('http://h:8080/b/index.html'),
  );
  assert.equal(
    await after(before),
    map(
      entry('https://undefined.example.com'),
      entry('https://h/a', '<lastmod>2026-11-01</lastmod>'),
      entry('https://h/b/?x=1&amp;y#z'),
      entry('https://h/b/'),
      entry('<![CDATA[ https://h/a.html ]]>'),
      entry('http://h:8080/b/index.html'),
    ),
  );
});

test('an entry without a page is taken out, and so is the second one of an address', async () => {
  const before = map(
    entry('https://h/a'),
    entry('https://h/none'),
    entry('https://h/a/'),
    entry('https://h/b/'),
  );
  assert.equal(await after(before), map(entry('https://h/a'), entry('https://h/b/')));
});

test('names beyond ASCII and with an ampersand are found in every spelling', async () => {
  for (const name of ['%C3%A4%20%C3%A0', 'd&amp;e', 'd%26e', 'f.pdf']) {
    const sound = map(entry(`https://h/${name}`));
    assert.equal(await after(sound), sound);
  }
  const raw = Buffer.from(map(entry('https://h/ä%20à/'))).toString();
  assert.equal(await after(raw), map(entry('https://h/%C3%A4%20%C3%A0')));
});

for (const [name, source] of [
  ['an index of sitemaps', '<sitemapindex><sitemap><loc>https://h/none.xml</loc></sitemap></sitemapindex>'],
  [
    'a sitemap below another base path',
    map(entry('https://h/x/a'), entry('https://h/x/b'), entry('https://h/a/')),
  ],
  ['XML that is cut off', `${map(entry('https://h/a/')).slice(0, -20)}<url>`],
  ['entries in a comment', map(entry('https://h/a'), '<!--', entry('https://h/none'), '-->')],
  ['text between entries', `<urlset>x<url><loc>https://h/a/</loc></url></urlset>`],
] as const) {
  test(`the sitemap rule leaves ${name}`, async () => {
    assert.equal(await after(source), source);
  });
}

test('sitemaps of other names and folders are read, and other XML is not', async () => {
  const before = map(entry('https://h/a/'));
  for (const name of ['sitemap-0.xml', 'b/sitemap_pages.xml'])
    assert.equal(await after(before, name), map(entry('https://h/a')));
  assert.equal(await after(before, 'feed.xml'), before);
});
