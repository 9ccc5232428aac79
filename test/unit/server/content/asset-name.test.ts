// Which names promise content that never changes: those of the build tools that docs sites are made with,
// and none that a person may have chosen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assetNaming, createAssetNames } from '#server/content/asset-name.ts';
import { words } from '../../../support/words.ts';

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
  '_nuxt/DlAUqK2U.js',
  '_sx/search/0123456701234567.js',
  '_sx/search/abcdefababcdefab.js',
  '_nuxt/B8xTq-9f.js',
  `css/main.min.${'0a1b2c3d'.repeat(16)}.css`,
];
const plain = words(`
  _sx/search/index.js _sx/search/search.js index.html assets/page.BxYz12_Q.html assets/logo.png assets/style.css assets/Overview.js
  assets/getting-started.png assets/chapter-Overview.png assets/screenshot-20240131.png
  report-20240131.pdf reports/12345678.pdf img/decade.png img/deadbeef.png js/main.20240131.js
  assets/invoice.20240131.pdf app.BxYz12_Q.js hashmap.json guides/start.txt docs/1.4/changes
  _static/documentation_options.js _static/searchtools.js _nuxt/builds/latest.json notes-BxYz12_Q.pdf
`);

const likely = words(`
  assets/index-DiwrgTda.css assets/x.MyModule.js assets/js/main.30945721.js assets/js/935f2afb.10293847.js
  assets/css/styles.deadbeef.css static/js/runtime~main.41827365.js.map chunk-DFRSE2QW.js page-BxYz12_Q.js
  assets/DlAUqK2U.js
`);

test('names of build tools are taken for hashed', () => {
  for (const path of hashed) assert.equal(assetNaming(path), 'hashed', path);
});

test('names that a person may have written are plain', () => {
  for (const path of plain) assert.equal(assetNaming(path), 'plain', path);
});

test('an ambiguous name alone is not cached for ever', () => {
  for (const path of likely) assert.equal(assetNaming(path), 'likely', path);
});

const beside = (path: string, ...siblings: readonly string[]): string | undefined => {
  return createAssetNames([path, ...siblings, 'index.html'].sort())(path);
};

const ofVitePress = [
  'assets/guide_index.md.CjJX0B9x.js',
  'assets/guide_index.md.CjJX0B9x.lean.js',
  'assets/chunks/theme.C3sI1x2_.js',
];
const ofWebpack = [
  'assets/js/main.8f3b2c1d.js',
  'assets/js/17896441.js',
  'assets/js/1be78505.9c2f0a11.js',
].concat('assets/css/styles.0f1e2d3c.css');

test('an ambiguous name counts as hashed among files that a build tool has named', () => {
  for (const path of [
    'assets/app.BnvtSGpd.js',
    'assets/chunks/search.DZ1xossw.js',
    'assets/inter.CWwsfg7h.woff2',
  ]) {
    assert.equal(beside(path, ...ofVitePress), 'hashed', path);
    assert.equal(beside(path, ...ofVitePress.slice(1)), 'likely', `${path} beside two`);
    assert.equal(beside(`docs/${path}`, ...ofVitePress), 'likely', `${path} in another site’s folder`);
  }
  assert.equal(beside('assets/js/main.30945721.js', ...ofWebpack), 'hashed');
});

test('many ambiguous programs of one folder are named by a tool, whatever the folder', () => {
  const ofAngular = words('2QFRSEDW B7QWERTY ABC3DEF4 XYZ2QRS5 A2B3C4D5 QQ2WW3EE Z7Y6X5W4 M2N3O4P5');
  const chunks = ofAngular.map((hash) => `docs/chunk-${hash}.js`);
  assert.equal(beside('docs/main-DFRSE2QW.js', ...chunks), 'hashed');
  assert.equal(beside('docs/main-DFRSE2QW.js', ...chunks.slice(1)), 'hashed');
  assert.equal(beside('docs/main-DFRSE2QW.js', ...chunks.slice(2)), 'likely');
});

test('what a person may have put among them is not', () => {
  for (const path of [
    'assets/x.MyModule.js',
    'assets/chapter-QuickTip.png',
    'assets/js/changes.20240131.js',
  ]) {
    assert.notEqual(beside(path, ...ofVitePress, ...ofWebpack), 'hashed', path);
  }
});

for (const [what, count, length] of [
  ['5,000 neighbours', 20_000, 8],
  ['128 KiB of their paths', 2_000, 4_000],
] as const) {
  test(`a name costs its request a look at ${what} at most`, () => {
    const likely = 'assets/main.30945721.js';
    const others = Array.from({ length: count }, (_, at) => `assets/a${at}`.padEnd(length, 'a'));
    let [looks, characters] = [0, 0];
    const paths = new Proxy([...others, likely].sort(), {
      get: (target, name, receiver) => {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value === 'string') [looks, characters] = [looks + 1, characters + value.length];
        return value;
      },
    });
    assert.equal(createAssetNames(paths)(likely), 'likely');
    // Besides, the search for the folder's first path.
    assert.ok(looks <= 5_100, `${looks} looks`);
    assert.ok(characters <= 131_072 + 20 * length, `${characters} characters`);
  });
}
