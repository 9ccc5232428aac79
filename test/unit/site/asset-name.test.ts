// Which names promise content that never changes: those of the build tools that docs sites are made with,
// and none that a person may have chosen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assetNaming } from '../../../src/site/asset-name.ts';

const hashed = [
  'assets/app.BxYz12_Q.js',
  'assets/guide_index.md.CjJX0B9x.lean.js',
  'assets/pino_browser.md.Daw7hqlt.lean.js',
  'assets/chunks/theme.C3sI1x2_.js',
  'assets/main-ABCD2345.js',
  'assets/inter-roman-latin.Di8DUHzh.woff2',
  '_next/static/chunks/main-app-6b2d0e1f9c8a7b5d.js',
  '_next/static/kQ3x/_buildManifest.js',
  '_astro/hoisted.D3k29xPq.js',
  'static/js/main.8f3b2c1d.js',
  'js/main.8f3b2c1d.chunk.js',
  'img/logo-1a2b3c4d5e6f.png',
  '3f2a9c1b77d0e4aa.woff2',
];
const plain = [
  'index.html',
  'assets/page.BxYz12_Q.html',
  'assets/logo.png',
  'assets/style.css',
  'assets/Overview.js',
  'assets/getting-started.png',
  'assets/chapter-Overview.png',
  'assets/screenshot-20240131.png',
  'report-20240131.pdf',
  'reports/12345678.pdf',
  'img/decade.png',
  'img/deadbeef.png',
  'app.BxYz12_Q.js',
  'hashmap.json',
  'guides/start.txt',
  'docs/1.4/changes',
  '_static/documentation_options.js',
  '_static/searchtools.js',
];

const likely = ['assets/index-DiwrgTda.css', 'assets/x.MyModule.js'];

test('names of build tools are taken for hashed', () => {
  for (const path of hashed) assert.equal(assetNaming(path), 'hashed', path);
});

test('names that a person may have written are plain', () => {
  for (const path of plain) assert.equal(assetNaming(path), 'plain', path);
});

test('what could be either is kept after a swap and not cached for ever', () => {
  for (const path of likely) assert.equal(assetNaming(path), 'likely', path);
});
