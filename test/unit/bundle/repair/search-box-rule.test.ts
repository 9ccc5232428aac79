// Search boxes and assistants without what they search: hidden on pages that have one, and on no other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSite } from '#bundle/repair/repair-site.ts';
import { recogniseIndex } from '#site/references/search-index.ts';
import { repaired } from './repaired-site.ts';

const style =
  /^<style data-static-export="search-box">[^<]*#search-bar-entry[^<]*\{display:none!important\}<\/style>$/;

for (const box of [
  '<button id="search-bar-entry">Search</button>',
  '<button id=assistant-entry-mobile>Ask</button>',
  '<div class="fixed chat-assistant-floating-input">',
  '<site-search class="x"></site-search>',
  '<div class="md-search" data-md-component="search">',
  '<div class="nextra-search">',
]) {
  test(`a style hides a box without an index: ${box}`, async () => {
    const page = `<html><head><title>t</title></head><body>${box}</body></html>`;
    const { site, counts } = await repaired({ 'index.html': page, 'other.html': '<p>Search</p>' });
    const added =
      site['index.html']?.slice(
        '<html><head><title>t</title>'.length,
        -'</head><body></body></html>'.length - box.length,
      ) ?? '';
    assert.match(added, style);
    assert.equal(site['index.html'], page.replace('</head>', `${added}</head>`));
    assert.deepEqual(counts, { 'search-box': 1 });
    assert.deepEqual((await repaired(site)).counts, {});
    assert.deepEqual((await repaired({ 'index.html': page }, 'search-box=off')).counts, {});
  });
}

for (const index of [
  'pagefind/pagefind-entry.json',
  '_pagefind/pagefind-entry.json',
  'docs/de/_search/pagefind-entry.json',
  'docs/v2/search/search_index.json',
  'searchindex.js',
  'de/searchindex-0a1b2c3d.js',
  'search-index-docs-default-current.json',
  'lunr-index-1700000000.json',
  'assets/chunks/@localSearchIndexroot.AbC_1.js',
  'member-search-index.js',
  '_next/static/chunks/nextra-data-en-US.json',
  'v1.2/search-index-docs-default-1.2.json',
  'v1.2/search-doc-1700000000.json',
  'assets/chunks/@localSearchIndex.js',
  'api/java/type-search-index.zip',
  'en.search-data.min.0a1b2c3d.json',
  'book/searchindex.json',
  'static/search_index.0a1b2c3d.json',
  'index.json',
]) {
  test(`a box stays where the archive has an index: ${index}`, async () => {
    const site = { 'index.html': '<div id="search-bar-entry">', [index]: '{}' };
    assert.deepEqual((await repaired(site)).counts, {});
  });
}

test('each index that the crawler knows is one for a repair', () => {
  for (const [path, head] of [
    ['_pagefind/pagefind-entry.json', '{"version":"1","languages":{}}'],
    ['latest/search/search_index.json', '{"config":{}}'],
    ['docs/next/lunr-index-1.json', '{}'],
    ['docs/next/search-index-a.b.json', '[]'],
    ['x/@localSearchIndexroot.A.js', ''],
    ['de/searchindex.js', 'Search.setIndex({})'],
    ['a/type-search-index.js', ''],
    ['book/searchindex-0a.js', 'window.search = {}'],
    ['x/en.search-data.min.0a.json', '[{"href":"/"}]'],
    ['zh-hans/index.json', '[{"permalink":"/"}]'],
  ] as const) {
    assert.notEqual(recogniseIndex(path, Buffer.from(head)), undefined, path);
    const files = [path, path.replace(/[^/]*$/, 'index.html')].map((one) => ({ path: one, size: 1 }));
    assert.equal(describeSite(files).hasSearchIndex, true, path);
  }
});

test('data that only has the name of an index keeps no box', async () => {
  const site = { 'index.html': '<div id="search-bar-entry">' };
  for (const data of ['_next/data/b/index.json', 'data/index.json', 'research.json', 'research-index.json']) {
    assert.deepEqual((await repaired({ ...site, [data]: '{}' })).counts, { 'search-box': 1 }, data);
  }
});

test('a page without a head gets the style too, and one that only names a box does not', async () => {
  const box = '<div id="search-bar-entry">';
  const { site } = await repaired({
    'a.html': `<body>${box}`,
    'b.html': box,
    'c.html': '<p>search-bar-entry',
  });
  assert.match(site['a.html'] ?? '', /^<style [^>]*>[^<]*<\/style><body>/);
  assert.match(site['b.html'] ?? '', /<\/style>$/);
  assert.equal(site['c.html'], '<p>search-bar-entry');
});
