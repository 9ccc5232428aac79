// One row for each position of an address in a document.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readHtmlReferences } from '#site/references/html-references.ts';
import * as fc from '../../../support/properties.ts';

const rows: readonly (readonly [string, readonly string[]])[] = [
  ['<a href="/x">', ['page /x']],
  ['<a href>', ['page ']],
  ['<map><area href=x></map>', ['page x']],
  ['<iframe src=x></iframe>', ['page x']],
  ['<object data=x></object><embed src=y>', ['page x', 'page y']],
  ['<script src=x.js></script>', ['asset x.js']],
  ['<img src=a.png srcset="b.png 1x, c.png 2x">', ['asset a.png', 'asset b.png', 'asset c.png']],
  ['<img data-src=a.png data-srcset="b.png 2x">', ['hint a.png', 'hint b.png']],
  ['<picture><source srcset="a.avif 1x"><img src=b.png></picture>', ['asset a.avif', 'asset b.png']],
  ['<video src=a.mp4 poster=p.jpg><track src=t.vtt></video>', ['asset a.mp4', 'asset p.jpg', 'asset t.vtt']],
  ['<audio><source src=a.ogg></audio>', ['asset a.ogg']],
  ['<input type=image src=a.png><input src=b.png>', ['asset a.png']],
  ['<script type=text/plain src=x.js></script>', ['hint x.js']],
  ['<svg><use href="s.svg#i"/><image xlink:href=a.png /></svg>', ['asset s.svg#i', 'asset a.png']],
  ['<svg><a xlink:href=/x></a><feImage href=f.png /></svg>', ['page /x', 'asset f.png']],
  ['<body background=a.png>', ['asset a.png']],
  ['<p style="background: url(a.png)">', ['asset a.png']],
  ['<style>@import "a.css"; b { background: url(b.png) }</style>', ['asset a.css', 'asset b.png']],
  ['<link rel=stylesheet href=a.css>', ['asset a.css']],
  ['<link rel="alternate stylesheet" href=a.css>', ['asset a.css']],
  ['<link rel="SHORTCUT ICON" href=a.ico>', ['asset a.ico']],
  ['<link rel=manifest href=m.webmanifest>', ['asset m.webmanifest']],
  ['<link rel=preload as=image imagesrcset="a.png 1x" href=b.png>', ['asset a.png', 'asset b.png']],
  ['<link rel=modulepreload href=a.js>', ['asset a.js']],
  ['<link rel=modulepreload href=x.md.H1.lean.js>', ['asset x.md.H1.lean.js', 'hint x.md.H1.js']],
  ['<link rel=next href=/2><link rel=prev href=/0>', ['page /2', 'page /0']],
  ['<link rel=alternate hreflang=de href=/de/>', ['page /de/']],
  ['<link rel=canonical href=/x><link rel=dns-prefetch href=//y>', ['hint //y']],
  ['<meta http-equiv=refresh content="0; url=/x">', ['page /x']],
  [`<meta http-equiv=Refresh content="3;URL='/x y'">`, ['page /x y']],
  ['<meta http-equiv=refresh content="30">', []],
  ['<meta property=og:image content=/o.png>', ['hint /o.png']],
  ['<noscript><img src=a.png></noscript>', ['asset a.png']],
  ['<template><a href=/x></a></template>', ['page /x']],
  ['<!-- <a href=/x> --><textarea><a href=/y></textarea>', []],
  ['<title><a href=/x></title><iframe><a href=/y></iframe><xmp><a href=/z></xmp>', []],
  ['<svg><style/><title><a href=/x></a></title></svg><a href=/y>', ['page /x', 'page /y']],
  ['<svg><style><![CDATA[a{fill:url(a.png)}]]></style></svg>', ['asset a.png']],
  ['<svg><desc><![CDATA[<a href=/x>]]></desc></svg><a href=/y>', ['page /y']],
  ['<script>"<a href=/x>"</script><style>a::after{content:"</a>"}</style><a href=/y>', ['page /y']],
  ['<math><mi href=/x></mi></math></svg><title><a href=/x></title><a href=/y>', ['page /y']],
  ['<style>a{b:url(a.png)}', ['asset a.png']],
  ['<a href="/x?a=1&amp;b=2">', ['page /x?a=1&b=2']],
];
for (const [html, expected] of rows) {
  test(`html: ${html}`, () => {
    assert.deepEqual(
      readHtmlReferences(html).references.map(({ use, text }) => `${use} ${text}`),
      expected,
    );
  });
}

test('the first <base> with an address is used, and scripts are returned as text or as addresses', () => {
  const read = readHtmlReferences(
    '<base target=_top><base href=/b/><base href=/c/><script>let a</script><script src=x.js></script>',
  );
  assert.equal(read.base, '/b/');
  assert.deepEqual(read.inlineScripts, ['let a']);
  assert.deepEqual(read.scriptSources, ['x.js']);
});

test('a deeply nested document is read to its end', () => {
  const html = `${'<b><i>'.repeat(20_000)}<a href=/deep>`;
  assert.ok(readHtmlReferences(html).references.some(({ text }) => text === '/deep'));
});

test('no document makes the reader throw', () => {
  const pieces = fc.constantFrom(
    '<a href="',
    '"',
    '>',
    '<svg>',
    '<math>',
    '</',
    '<template>',
    '<script>',
    '</script>',
    '<style>',
    '<!--',
    '-->',
    '<meta http-equiv=refresh content="0;',
    '<link rel=icon href=',
    '&',
    '&#x0;',
    '<table><a>',
    '\0',
    '<![CDATA[',
    'x',
  );
  const html = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(html, (text) => {
      assert.ok(Array.isArray(readHtmlReferences(text).references));
    }),
    { numRuns: 200 },
  );
});

test('a script of 8 MiB of short words is read with 64 MiB of memory', async () => {
  const reader = new URL('../../../../src/site/references/html-references.ts', import.meta.url);
  const code = `
    import { parentPort } from 'node:worker_threads';
    import { readHtmlReferences } from ${JSON.stringify(reader.href)};
    const html = '<script>' + 'ab '.repeat((8 * 1024 * 1024) / 3) + '</script>';
    parentPort.postMessage(readHtmlReferences(html).inlineScripts[0].length);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  const [length] = await once(worker, 'message');
  assert.equal(length, 8388606);
});

test('the page of a search is a page, and its description for browsers is a file', () => {
  const described = '<link rel="search" type="application/opensearchdescription+xml" href="o.xml">';
  const { references } = readHtmlReferences(`<link rel="search" href="search.html">${described}`);
  assert.deepEqual(references, [
    { text: 'search.html', use: 'page' },
    { text: 'o.xml', use: 'asset', load: 'manifest' },
  ]);
});
