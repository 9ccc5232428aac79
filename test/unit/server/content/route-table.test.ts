// The mapping from paths to files, as a table; and what must hold of any bundle's routes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noBytes } from '#bundle/bundle-index.ts';
import {
  buildRouteTable,
  buildRouteTableInSlices,
  pathsPerSlice,
  type Route,
} from '#server/content/route-table.ts';
import * as fc from '../../../support/properties.ts';
import { words } from '../../../support/words.ts';
import { bundleOf } from '../fixtures.ts';

const table = buildRouteTable(
  bundleOf([
    'index.html',
    '404.html',
    'file.html',
    'folder/index.html',
    'both.html',
    'both/index.html',
    'exact',
    'exact.html',
    'exact/index.html',
    'empty/page.html',
    'docs/1.4/index.html',
    'de/404.html',
    'de/deep/er/page.html',
    'a b/index.html',
    'mailto:x/index.html',
    'été/index.html',
    '.env',
    '.well-known/security.txt',
    '_headers',
    'guides/_headers',
    'guides/start.txt',
    'page.html/index.html',
    'x/.html',
  ]),
);

const show = (route: Route | undefined): string =>
  route === undefined ? 'absent' : route.kind === 'file' ? route.file.path : `→ ${route.location}`;

test('a file that is named as a page and holds JSON answers as JSON, and is not counted', () => {
  const bundle = bundleOf(['api/user/index.html', 'index.html']);
  const files = bundle.files.map((file, at) => ({ ...file, ...(at === 0 && { isData: true as const }) }));
  const routes = buildRouteTable({ digest: bundle.digest, files });
  const typeOf = (path: string): string | undefined => {
    const route = routes.find(path);
    return route?.kind === 'file' ? route.contentType : route?.kind;
  };
  assert.deepEqual(['/api/user/', '/api/user/index.html', '/api/user', '/'].map(typeOf), [
    'application/json',
    'application/json',
    'redirect',
    'text/html; charset=utf-8',
  ]);
  assert.equal(routes.pages, 1);
});

test('a type that the export kept is sent in place of that of the name, and has an entity tag of its own', () => {
  const bundle = bundleOf(['feed', 'index.html', 'old.html']);
  const kept = new Map([
    ['feed', 'application/rss+xml'],
    ['old.html', 'text/html; charset=windows-1251'],
  ]);
  const files = bundle.files.map((file) => {
    const type = kept.get(file.path);
    return { ...file, ...(type !== undefined && { type }) };
  });
  const sent = (all: typeof bundle.files) => (path: string) => {
    const route = buildRouteTable({ digest: bundle.digest, files: all }).find(path);
    return route?.kind === 'file' ? [route.contentType, route.entityTag] : undefined;
  };
  const [before, after] = [sent(bundle.files), sent(files)];
  assert.deepEqual(
    ['/feed', '/old'].map((path) => before(path)?.[0]),
    ['application/octet-stream', 'text/html; charset=utf-8'],
  );
  assert.deepEqual(
    ['/feed', '/old'].map((path) => after(path)?.[0]),
    ['application/rss+xml; charset=utf-8', 'text/html; charset=windows-1251'],
  );
  assert.deepEqual(after('/'), before('/'));
  for (const path of ['/feed', '/old']) assert.notEqual(after(path)?.[1], before(path)?.[1]);
});

const rows: readonly (readonly [string, string])[] = [
  ['/', 'index.html'],
  ['/index', 'index.html'],
  ['/index.html', 'index.html'],
  ['/file', 'file.html'],
  ['/file/', 'absent'],
  ['/file.html', 'file.html'],
  ['/folder', '→ ./folder/'],
  ['/folder/', 'folder/index.html'],
  ['/folder/index', 'folder/index.html'],
  ['/folder/index.html', 'folder/index.html'],
  ['/both', 'both.html'],
  ['/both/', 'both/index.html'],
  ['/both.html', 'both.html'],
  ['/exact', 'exact'],
  ['/exact/', 'exact/index.html'],
  ['/exact.html', 'exact.html'],
  ['/empty', 'absent'],
  ['/empty/', 'absent'],
  ['/docs/1.4', '→ ./1.4/'],
  ['/docs/1.4/', 'docs/1.4/index.html'],
  ['/page.html', '→ ./page.html/'],
  ['/page.html/', 'page.html/index.html'],
  ['/a b', '→ ./a%20b/'],
  ['/mailto:x', '→ ./mailto%3Ax/'],
  ['/été', '→ ./%C3%A9t%C3%A9/'],
  ['/.env', 'absent'],
  ['/.well-known/security.txt', '.well-known/security.txt'],
  ['/_headers', 'absent'],
  ['/guides/_headers', 'guides/_headers'],
  ['/guides/start', 'absent'],
  ['/guides/start.txt', 'guides/start.txt'],
  ['/x/', 'absent'],
  ['/x/.html', 'absent'],
  ['/FILE', 'absent'],
  ['//file', 'absent'],
  ['/folder//', 'absent'],
  ['/__proto__', 'absent'],
  ['/constructor', 'absent'],
];

test('each form of an address has one answer', () => {
  for (const [path, expected] of rows) assert.equal(show(table.find(path)), expected, path);
});

test('either Unicode form of an address finds the one file, whichever form its name has', () => {
  const names = words('guides/über.html img/über.png ガイド/index.html kö/404.html kö/index.html kö.js');
  for (const inBundle of ['NFC', 'NFD'] as const) {
    const routes = buildRouteTable(
      bundleOf(['index.html', ...names.map((name) => name.normalize(inBundle))]),
    );
    assert.equal(routes.size, names.length + 1);
    for (const asked of ['NFC', 'NFD'] as const) {
      const find = (path: string): string => show(routes.find(path.normalize(asked))).normalize('NFC');
      assert.deepEqual(
        ['/guides/über', '/img/über.png', '/ガイド/', '/kö/', '/kö', '/kö.js', '/über'].map(find),
        [
          ...['guides/über.html', 'img/über.png', 'ガイド/index.html', 'kö/index.html'],
          ...[`→ ./${encodeURIComponent('kö'.normalize(asked))}/`, 'kö.js', 'absent'],
        ],
      );
      const page = routes.findNotFoundPage('/kö/x'.normalize(asked));
      assert.equal(page?.file.path, 'kö/404.html'.normalize(inBundle));
    }
  }
});

test('a hidden file that is named is found and counted, if the pack has its bytes', () => {
  const bundle = bundleOf(['index.html', 'tags/.net/index.html', '.npmrc.html', 'install.cmd', '.env']);
  const plain = buildRouteTable({ ...bundle, pages: 1 });
  assert.deepEqual([plain.size, plain.pages, plain.missing.count], [1, 1, 0]);
  const routes = buildRouteTable(bundle, ['.net', '.npmrc', 'install.cmd']);
  assert.deepEqual(
    ['/tags/.net/', '/tags/.net', '/.npmrc', '/install.cmd', '/.env'].map((path) => show(routes.find(path))),
    ['tags/.net/index.html', '→ ./.net/', '.npmrc.html', 'install.cmd', 'absent'],
  );
  assert.deepEqual([routes.size, routes.pages, routes.missing.count], [4, 3, 0]);
  const files = bundle.files.map((file) =>
    file.path === 'install.cmd' ? { ...file, offset: noBytes } : file,
  );
  const older = buildRouteTable({ ...bundle, files }, ['.net', 'install.cmd']);
  assert.equal(show(older.find('/install.cmd')), 'absent');
  assert.deepEqual(older.missing, { count: 1, example: 'install.cmd' });
});

test('a store of an earlier version may hold both forms of a name, and each is found by its own', () => {
  const routes = buildRouteTable(bundleOf(['e\u0301.html', '\u00e9.html']));
  for (const path of ['/e\u0301', '/\u00e9']) assert.equal(show(routes.find(path)), `${path.slice(1)}.html`);
});

test('the nearest 404.html stands for what is absent', () => {
  const pages: readonly (readonly [string, string])[] = [
    ['/nothing', '404.html'],
    ['/', '404.html'],
    ['/folder/nothing/at/all', '404.html'],
    ['/de', '404.html'],
    ['/de/', 'de/404.html'],
    ['/de/nothing', 'de/404.html'],
    ['/de/deep/er/nothing', 'de/404.html'],
    ['/dex/nothing', '404.html'],
    ['//x', '404.html'],
  ];
  for (const [path, expected] of pages) assert.equal(table.findNotFoundPage(path)?.file.path, expected, path);
  assert.equal(buildRouteTable(bundleOf(['a.html'])).findNotFoundPage('/x'), undefined);
});

test('in any bundle every visible file has its own path, and no redirect leads to a redirect', () => {
  const name = fc.constantFrom(...words('a b index index.html a.html b.html 404.html x.js a:b .x'));
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((all) => all.join('/'));
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 30 }), (paths) => {
      const routes = buildRouteTable(bundleOf(paths));
      const folders = paths.flatMap((one) => [one.replace(/\/?[^/]*$/, ''), one.replace(/\/?[^/]*$/, '/')]);
      for (const at of [...paths, ...folders].map((one) => `/${one}`.replace('//', '/'))) {
        const route = routes.find(at);
        if (paths.includes(at.slice(1)) && !at.split('/').includes('.x')) {
          assert.ok(route?.kind === 'file' && route.file.path === at.slice(1), at);
        }
        if (route?.kind !== 'redirect') continue;
        const target = new URL(route.location, `http://h${at.split('/').map(encodeURIComponent).join('/')}`);
        assert.equal(
          routes.find(decodeURIComponent(target.pathname))?.kind,
          'file',
          `${at} ${route.location}`,
        );
      }
    }),
  );
});

test('a table made in slices is the same, and lets others run after every slice of paths', async () => {
  const paths = Array.from({ length: pathsPerSlice }, (_, at) => `folder-${at}/index.html`);
  const bundle = bundleOf(['both.html', 'both/index.html', 'assets/app.BxYz1234.js', ...paths]);
  let pauses = 0;
  const sliced = await buildRouteTableInSlices(bundle, async () => {
    pauses += 1;
  });
  const whole = buildRouteTable(bundle);
  for (const path of ['/both', '/both/', '/folder-7', '/folder-7/', '/assets/app.BxYz1234.js', '/none']) {
    assert.deepEqual(sliced.find(path), whole.find(path), path);
  }
  for (const [path, isAsset] of [
    ['/assets/app.BxYz1234.js', true],
    ['/both.html', false],
    ['/folder-7/', false],
  ] as const) {
    assert.equal(sliced.findAsset(path) !== undefined, isAsset, path);
    assert.deepEqual(sliced.findAsset(path), whole.findAsset(path), path);
  }
  assert.equal(pauses, Math.floor(bundle.files.length / pathsPerSlice));
});

test('a path has one route, which every name of its file shares', () => {
  const routes = buildRouteTable(bundleOf(['guide/index.html', 'page.html']));
  assert.equal(routes.find('/page'), routes.find('/page.html'));
  assert.equal(routes.find('/guide/'), routes.find('/guide/index.html'));
});
