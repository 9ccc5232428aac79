// What becomes of the elements of a page: their addresses in every form, the scripts and hints that go, and those that stay.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { portablePage } from './portable-files.ts';

const others = [
  'index.html',
  'a.css',
  'a.js',
  'a.png',
  'b.png',
  'it.svg',
  'app.js',
  'assets/js/main.js',
  '_next/x.js',
];
const page = (text: string, options = {}): Promise<string> => portablePage(text, others, options);
const script = '<script defer="" src="../_sx/portable.js"></script>';

test('addresses become relative in attributes, lists of pictures, styles, refreshes and pictures of metadata', async () => {
  const cases: readonly (readonly [string, string])[] = [
    ['<a href="/">h</a>', '<a href="../index.html">h</a>'],
    ["<a href='/' class=x>", "<a href='../index.html' class=x>"],
    ['<a href=/>h', '<a href=../index.html>h'],
    ['<a href="&#47;?a=1&amp;b=2#c">', '<a href="../index.html?a=1&amp;b=2#c">'],
    [
      '<img src="/a.png" srcset="/a.png 1x, /b.png?w=2&amp;q=3 2x">',
      '<img src="../a.png" srcset="../a.png 1x, ../b.png?w=2&amp;q=3 2x">',
    ],
    [
      '<i style="background:url(/a.png),url(&quot;/b.png&quot;)">',
      '<i style="background:url(../a.png),url(&quot;../b.png&quot;)">',
    ],
    [
      '<style>@import "/a.css";a{b:url( \'/a.png\' )}</style>',
      '<style>@import "../a.css";a{b:url( \'../a.png\' )}</style>',
    ],
    [
      '<meta http-equiv="refresh" content="0; url=/guides/page">',
      '<meta http-equiv="refresh" content="0; url=page.html">',
    ],
    ['<meta property="og:image" content="/a.png">', '<meta property="og:image" content="../a.png">'],
    [
      '<form action="/"><button formaction="/">',
      '<form action="../index.html"><button formaction="../index.html">',
    ],
    ['<link rel="icon" href="/it.svg">', '<link rel="icon" href="../it.svg">'],
    ['<svg><image href="/a.png"/></svg>', '<svg><image href="../a.png"/></svg>'],
  ];
  for (const [before, after] of cases) assert.equal(await page(before), after);
});

test('a canonical address stays absolute where it has a host', async () => {
  const host = { domain: 'docs.example.com' };
  const absolute =
    '<link rel="canonical" href="https://docs.example.com/guides/page"><meta property="og:url" content="https://docs.example.com/">';
  assert.equal(await page(absolute, host), absolute);
  assert.equal(
    await page('<link rel="canonical" href="/guides/page">'),
    '<link rel="canonical" href="page.html">',
  );
});

test('a base element goes, and addresses lead where they led; its target stays', async () => {
  assert.equal(
    await page('<base href="/"><a href="a.png"><a href="#x">'),
    '<a href="../a.png"><a href="../index.html#x">',
  );
  assert.equal(
    await page('<base href="/" target="_top"><img src="a.png">'),
    '<base  target="_top"><img src="../a.png">',
  );
});

test('hashes and origins of files of the site go, and those of other hosts stay', async () => {
  assert.equal(
    await page(
      '<link rel="stylesheet" crossorigin integrity="sha256-x" href="/a.css"><script src="/a.js" crossorigin=""></script>',
    ),
    '<link rel="stylesheet" href="../a.css"><script src="../a.js"></script>',
  );
  const other = '<script src="https://cdn.example/x.js" integrity="sha256-x" crossorigin></script>';
  assert.equal(await page(other), other);
});

test('hints at scripts, data and fonts go, with manifests and policies; style sheets stay', async () => {
  const hints = [
    '<link rel="modulepreload" href="/app.js">',
    '<link rel="preload" as="font" crossorigin href="/x.woff2">',
    '<link rel="preload" as="script" href="/app.js">',
    '<link rel="prefetch" href="/guides/page">',
    '<link rel="manifest" href="/site.webmanifest">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'self\'">',
  ];
  for (const hint of hints) assert.equal(await page(`a${hint}b`), 'ab', hint);
  assert.equal(
    await page(
      '<link rel="preload stylesheet" as="style" href="/a.css"><link rel="preload" as="style" href="/a.css">',
    ),
    '<link rel="preload stylesheet" as="style" href="../a.css"><link rel="preload" as="style" href="../a.css">',
  );
  const other = '<link rel="prefetch" href="https://other.example/x.js">';
  assert.equal(await page(other), other);
});

test('modules and scripts of a framework go, and one script takes their place', async () => {
  const gone = [
    '<script type="module" src="/app.js"></script>',
    '<script type="module">import "/app.js"</script>',
    '<script nomodule src="/a.js"></script>',
    '<script type="importmap">{}</script>',
    '<script src="/_next/x.js" async=""></script>',
    '<script src="/_next/missing.js"></script>',
    '<script>self.__next_f.push([1,"</scr"])</script>',
    '<script id="__NEXT_DATA__" type="application/json">{}</script>',
    '<script>window.__VP_HASH_MAP__={}</script>',
    '<script>navigator.serviceWorker.register("/sw.js")</script>',
  ];
  for (const one of gone) {
    assert.equal(await page(`<head>${one}</head>b`), `<head>${script}</head>b`, one);
    assert.equal(await page(`<body>${one}b`), `${script}<body>b`, one);
  }
  const docusaurus = '<script src="/assets/js/main.js"></script><div id="__docusaurus"></div>';
  assert.equal(await page(docusaurus), `<div id="__docusaurus"></div>${script}`);
});

test('classic scripts of other tools stay, and so do data, inline modules that load nothing, and other hosts', async () => {
  const kept = [
    '<script src="../a.js" async></script>',
    '<script src="../assets/js/main.js"></script>',
    '<script>document.documentElement.classList.add("js")</script>',
    '<script id="__config" type="application/json">{"base": ".."}</script>',
    '<script type="application/ld+json">{}</script>',
    '<script type="module">document.title = 1</script>',
    '<script src="https://cdn.example/x.js" type="module"></script>',
  ];
  for (const one of kept) assert.equal(await page(one), one);
});

test('a script that never ends goes to the end of its page', async () => {
  assert.equal(await page('a<script type="module">import'), `a${script}`);
});

test('texts of every other kind keep all of their bytes', async () => {
  const text =
    '<!-- <a href="/"> --><p data-x="/">\xff\xe4</p><textarea><a href="/"></textarea><pre>/guides/page</pre>';
  assert.equal(await page(text), text);
});

test('a page of bytes that are not UTF-8 keeps them, around addresses that change', async () => {
  assert.equal(
    await page('<a href="/" title="\xe4\xff">\x82\xa0'),
    '<a href="../index.html" title="\xe4\xff">\x82\xa0',
  );
});
