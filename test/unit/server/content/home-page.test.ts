// Whether the home page's scripts and style sheets are found where the site is served.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMisplacedName } from '#server/content/home-page.ts';
import { goLive } from '#server/content/live-bundle.ts';
import { storedBundle } from '../fixtures.ts';

const assets = { 'assets/app.js': 'x', 'assets/style.css': 'y' };
const page = (base: string): string => `<!doctype html><html><head>
  <link rel="preconnect" href="https://fonts.example.com"><link rel=stylesheet href=${base}/assets/style.css>
  <script type="module" src='${base}/assets/app.js?v=1#x'></script><script src="//cdn.example.com/a.js"></script>
  <script src="relative.js"></script></head><a href="/elsewhere">other</a>`;

const cases: readonly (readonly [string, string, string, string | undefined])[] = [
  ['a site built for the root, at the root', '', '', undefined],
  ['a site built for a path, under it', '/docs', '/docs', undefined],
  ['a site built for the root, under a path', '', '/docs', '/assets/style.css'],
  ['a site built for a path, at the root', '/docs', '', '/docs/assets/style.css'],
];

for (const [what, builtFor, servedUnder, wanted] of cases) {
  test(what, async () => {
    const bundle = goLive(storedBundle({ ...assets, 'index.html': page(builtFor) }));
    assert.equal(await findMisplacedName(bundle, servedUnder), wanted);
    let isClosed = false;
    await bundle.retire().then(() => {
      isClosed = true;
    });
    assert.ok(isClosed, 'the bundle is let go');
  });
}

test('a bundle without a home page says nothing', async () => {
  assert.equal(await findMisplacedName(goLive(storedBundle(assets)), '/docs'), undefined);
});

test('a page that never closes its tags is read in one pass', async () => {
  for (const piece of ['<script ', '<link src', '<script src=', '<link src = "/', ' '.repeat(9)]) {
    const hostile = storedBundle({ 'index.html': `<script ${piece.repeat(60_000)}`.slice(0, 300_000) });
    await findMisplacedName(goLive(hostile), '');
  }
});
