// A repair as a whole: what each rule changes of paths, that a sound site stays as it is, and that a second repair finds nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxRepairedBytes, planRepair } from '#bundle/repair/repair.ts';
import { ruleModes } from '#bundle/repair/rule-modes.ts';
import { buildRouteTable } from '#server/content/route-table.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import * as fc from '../../../support/properties.ts';
import { repaired } from './repaired-site.ts';

const home = { 'index.html': '<html><head></head><body><a href="/guide">Guide</a></body></html>' };

test('a site without defects keeps its digest, and no rule counts a file', async () => {
  const site = { ...home, 'guide/index.html': '<p>g</p>', 'a.js': 'const host = "https://undefined/";' };
  const { plan, site: after } = await repaired(site);
  assert.equal(plan.isChanged, false);
  assert.equal(plan.digest, memoryBundle(site).index.digest);
  assert.deepEqual(after, site);
});

test('the script that serves an export is dropped with the files that start it, and other scripts stay', async () => {
  const site = { ...home, 'serve.js': 'x', 'start.bat': 'x', 'Start.command': 'x', 'docs/serve.js': 'y' };
  const { site: after, counts } = await repaired(site);
  assert.deepEqual(Object.keys(after).sort(), ['docs/serve.js', 'index.html']);
  assert.deepEqual(counts, { launchers: 3 });
  const published = { ...home, 'install.cmd': 'x' };
  assert.deepEqual((await repaired(published)).counts, {});
  assert.deepEqual((await repaired(published, 'launchers=all')).counts, { launchers: 1 });
  assert.deepEqual((await repaired(site, 'launchers=off')).counts, {});
});

test('clutter is dropped, and a folder around the site is taken off', async () => {
  const clutter = { '__MACOSX/._index.html': 'x', '.DS_Store': 'x', 'a/desktop.ini': 'x', 'a/._b.html': 'x' };
  const { site, counts } = await repaired({ ...home, 'a/b.html': 'b', ...clutter });
  assert.deepEqual(Object.keys(site).sort(), ['a/b.html', 'index.html']);
  assert.deepEqual(counts, { 'wrapping-folder': 4 });
  const wrapped = await repaired({ 'site/index.html': 'h', 'site/a.html': 'a', '__MACOSX/._site': 'x' });
  assert.deepEqual(wrapped.site, { 'index.html': 'h', 'a.html': 'a' });
  const off = await repaired({ ...home, ...clutter }, 'wrapping-folder=off');
  assert.equal(Object.keys(off.site).length, 5);
});

test('a folder that only launchers keep from being around the site is taken off with them', async () => {
  const { site } = await repaired({ '.site/index.html': 'h', 'serve.js': 'x' });
  assert.deepEqual(site, { 'index.html': 'h' });
});

test('the last files of an archive are not dropped', async () => {
  const { site } = await repaired({ '.DS_Store': 'x', 'serve.js': 'y' });
  assert.deepEqual(site, { '.DS_Store': 'x' });
});

test('a text of more than 8 MiB is not read', async () => {
  const page = (length: number) => `<link rel="canonical" href="https://undefined/">`.padEnd(length, ' ');
  const site = { 'large.html': page(maxRepairedBytes + 1), 'small.html': page(maxRepairedBytes) };
  const { counts, plan } = await repaired(site, 'canonical=strip');
  assert.deepEqual(counts, { canonical: 1 });
  assert.deepEqual(plan.rules.find(({ rule }) => rule === 'canonical')?.examples, ['small.html']);
});

test('a signal ends a repair', async () => {
  const reason = new Error('ended');
  await assert.rejects(planRepair(memoryBundle(home), ruleModes([]), AbortSignal.abort(reason)), reason);
});

const words = fc.constantFrom(
  ...['index', 'guide', 'a', 'site', '.x', '.DS_Store', '__MACOSX', 'serve.js', 'start.bat', 'search'],
);
const ends = fc.constantFrom('index.html', 'index/index.html', 'a.html', 'guide.html', 'b.htm', 'x.png');
const paths = fc
  .tuple(fc.array(words, { maxLength: 3 }), fc.oneof(ends, words))
  .map(([folders, name]) => [...folders, name].join('/'));
const pieces = fc.constantFrom(
  ...['<', '</', '<!--', '-->', '>', '"', "'", ' ', '\n', 'a', 'é', '<head>', '</head>', '<body>', '<style>'],
  ...['</style>', '<script>', '</script>', '<svg>', '<title>', 'url(x.png)', 'style="background:url(x)"'],
  ...[
    '<a href="/guide">',
    '<a href="guide">',
    '<a href="/">',
    '<a href="../a">',
    '<a href="#x">',
    '<base href="b/">',
  ],
  ...['<img srcset="x.png 1x, y.png 2x">', '<meta http-equiv=refresh content="0; url=a">'],
  ...['<link rel="canonical" href="https://undefined.example.com/a">', '<link rel=canonical href=null>'],
  ...['<meta property="og:url" content="undefined/x">', '<meta property=og:url content=https://undefined>'],
  ...['<div id="search-bar-entry">', '<site-search>', '<style data-static-export="search-box">'],
);
const maps = fc.constantFrom(
  ...[
    '<urlset>',
    '</urlset>',
    '<url>',
    '</url>',
    '<url ',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '>',
    '<',
    ' ',
    '\n',
  ],
  ...[
    '<url><loc>https://h/guide</loc></url>',
    '<url><loc>https://h/a.html</loc></url>',
    '<loc>https://h/</loc>',
  ],
  ...['<url><loc>https://h/none</loc></url>', '<url><loc>https://h/a</loc></url>', '<loc>https://h/a/</loc>'],
);
const text = (piece: fc.Arbitrary<string>) => fc.array(piece, { maxLength: 12 }).map((all) => all.join(''));
const sites = fc
  .tuple(fc.dictionary(paths, text(pieces), { minKeys: 1, maxKeys: 8 }), fc.option(text(maps)))
  .map(([pages, map]) => ({ ...pages, ...(map !== null && { 'sitemap.xml': map }) }));
const modes = fc.constantFrom(
  ...[
    'canonical=keep',
    'canonical=strip',
    'canonical=set=docs.example.com',
    'canonical=off',
    'launchers=all',
  ],
  ...['wrapping-folder=off', 'folder-index=off', 'launchers=off'],
);

test('a repair of what was repaired changes nothing', async () => {
  await fc.assertAsync(
    fc.asyncProperty(sites, modes, async (site, mode) => {
      const once = await repaired(site, mode);
      const twice = await repaired(toBytes(once.site), mode);
      assert.deepEqual(twice.site, once.site);
      assert.equal(twice.plan.isChanged, false);
      assert.equal(twice.plan.digest, once.plan.digest);
    }),
    { numRuns: 2000 },
  );
});

test('each address of a repaired sitemap is answered with a page', async () => {
  const listed = fc.array(paths, { minLength: 1, maxLength: 6 });
  await fc.assertAsync(
    fc.asyncProperty(sites, listed, async (site, entries) => {
      const map = entries.map((path) => `<url><loc>https://h/${path}</loc></url>`).join('\n');
      const { plan, site: after } = await repaired({ ...site, 'sitemap.xml': `<urlset>${map}</urlset>` });
      if (plan.rules.every(({ rule, files }) => rule !== 'sitemap' || files === 0)) return;
      const table = buildRouteTable(memoryBundle(toBytes(after)).index);
      for (const [, path = ''] of (after['sitemap.xml'] ?? '').matchAll(/<loc>https:\/\/h([^<]*)</g)) {
        assert.equal(table.find(decodeURIComponent(path))?.kind, 'file', path);
      }
    }),
  );
});

function toBytes(site: Readonly<Record<string, string>>): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(Object.entries(site).map(([path, body]) => [path, Buffer.from(body, 'latin1')]));
}
