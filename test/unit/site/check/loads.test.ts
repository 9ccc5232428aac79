// What bodies load, and how it is used.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLoads } from '#site/check/loads.ts';
import type { BodyKind } from '#site/references/body-links.ts';
import * as fc from '../../../support/properties.ts';

const usedFor = (kind: BodyKind, source: string): readonly string[] =>
  readLoads(kind, source).loads.map(({ load, text, isLate }) => `${isLate ? 'late ' : ''}${load} ${text}`);

const pages: readonly (readonly [string, string, readonly string[]])[] = [
  ['a script', '<script src=a.js></script>', ['script a.js']],
  ['a module', '<script type=module src=a.js></script>', ['script a.js']],
  ['a script that waits for consent', '<script type="text/plain" src=a.js></script>', ['late script a.js']],
  ['a data block', '<script type="application/json">{"src":"a.js"}</script>', []],
  [
    'an import map',
    '<script type=importmap>{"imports":{"a":"//b.example/a.js"}}</script>',
    ['script //b.example/a.js'],
  ],
  ['a style sheet', '<link rel="stylesheet" href=a.css>', ['style a.css']],
  ['a preload that is a style sheet too', '<link rel="preload stylesheet" href=a.css>', ['style a.css']],
  ['preloads', '<link rel=preload href=a><link rel=modulepreload href=b>', ['preload a', 'preload b']],
  [
    'a preload of a set',
    '<link rel=preload imagesrcset="a.png 1x, b.png 2x">',
    ['preload a.png', 'preload b.png'],
  ],
  ['a prefetch', '<link rel=prefetch href=a>', ['prefetch a']],
  [
    'connections',
    '<link rel=preconnect href=//a><link rel=dns-prefetch href=//b>',
    ['connection //a', 'connection //b'],
  ],
  ['an icon', '<link rel="shortcut icon" href=a.ico>', ['picture a.ico']],
  ['a manifest', '<link rel=manifest href=a.json>', ['manifest a.json']],
  ['links that load nothing', '<link rel=canonical href=a><link rel=next href=b><a href=c>', []],
  [
    'a picture',
    '<img src="a.png" srcset="b.png 1x, c.png 2x">',
    ['picture a.png', 'picture b.png', 'picture c.png'],
  ],
  [
    'a late picture',
    '<img data-src="a.png" data-srcset="b.png 2x">',
    ['late picture a.png', 'late picture b.png'],
  ],
  ['a button that is a picture', '<input type=image src=a.png><input src=b>', ['picture a.png']],
  ['a background', '<body background=a.png>', ['picture a.png']],
  [
    'a drawing',
    '<svg><use xlink:href="a.svg#b"/><image href=c.png /></svg>',
    ['picture a.svg#b', 'picture c.png'],
  ],
  ['a script of a drawing', '<svg><script href=a.js></script></svg>', ['script a.js']],
  [
    'a video',
    '<video src=a.mp4 poster=a.png><source src=b.mp4><track src=c.vtt></video>',
    ['video a.mp4', 'picture a.png', 'video b.mp4', 'media c.vtt'],
  ],
  [
    'sound, also after a video',
    '<video></video><audio src=a.mp3><source src=b.mp3></audio>',
    ['media a.mp3', 'media b.mp3'],
  ],
  [
    'frames',
    '<iframe src=a></iframe><object data=b></object><embed src=c>',
    ['frame a', 'frame b', 'frame c'],
  ],
  ['a style attribute', '<p style="background: url(&quot;a.png&quot;)">', ['picture a.png']],
  [
    'a style element',
    '<style>@import "a.css"; b { c: url(d.png) }</style>',
    ['style a.css', 'picture d.png'],
  ],
  [
    'what a reference stands for',
    '<img src="a?b&amp;c" srcset="d?e&amp;f 2x">',
    ['picture a?b&c', 'picture d?e&f'],
  ],
];
for (const [name, html, expected] of pages) {
  test(`loads of a page: ${name}`, () => assert.deepEqual(usedFor('document', html), expected));
}

const sheets: readonly (readonly [string, string, readonly string[]])[] = [
  ['an import', '@import url("a.css") screen;', ['style a.css']],
  [
    'the sources of a font',
    '@font-face { font-family: a; src: url(a.woff2), url("b.woff") } c { d: url(e.png) }',
    ['font a.woff2', 'font b.woff', 'picture e.png'],
  ],
  ['a picture in a media query', '@media print { a { b: url(c.png) } }', ['picture c.png']],
];
for (const [name, css, expected] of sheets) {
  test(`loads of a style sheet: ${name}`, () => assert.deepEqual(usedFor('style', css), expected));
}

test('a manifest loads its icons, and nothing else that has a source', () => {
  const text = '{"icons":[{"src":"a.png"}],"start_url":"/","other":{"src":"b.ts"}}';
  assert.deepEqual(usedFor('manifest', text), ['picture a.png']);
});

test('a script loads the modules of other hosts that it imports', () => {
  const script =
    'import "https://a.example/b.js"; import("//a.example/c.js"); import "./d.js"; "//a.example/e.js"';
  assert.deepEqual(usedFor('script', script), ['script https://a.example/b.js', 'script //a.example/c.js']);
  assert.deepEqual(usedFor('document', `<script type=module>${script}</script>`), usedFor('script', script));
});

test('what comes before the base is counted', () => {
  const source = '<a href=e><img src=a><base href="/b/"><base href="/c/"><img src=d>';
  const { base, baseAt, loads } = readLoads('document', source);
  assert.deepEqual([base, baseAt, loads.map(({ text }) => text)], ['/b/', 1, ['a', 'd']]);
});

test('no body makes the reader throw', () => {
  const piece = fc.constantFrom(
    ...[
      '<img src=',
      '<link rel=stylesheet href="',
      '<style>',
      '</style>',
      '<script type=importmap>',
      '</script>',
    ],
    ...[
      'srcset="a 1x,',
      " style='b:url(",
      '@font-face{',
      '@import "',
      '"',
      "'",
      '>',
      '<svg>',
      '&quot;',
      ':"//a"',
      '\0',
    ],
  );
  const body = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
  );
  const kind = fc.constantFrom<BodyKind>('document', 'picture', 'style', 'manifest', 'other');
  fc.assert(
    fc.property(kind, body, (as, source) => {
      assert.ok(readLoads(as, source).baseAt <= readLoads(as, source).loads.length);
    }),
  );
});
