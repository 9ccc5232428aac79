// Addresses of pages against a bundle: found exactly where the server finds them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPageMap } from '#conversations/gaps/page-map.ts';
import * as fc from '../../../support/properties.ts';

const hash = 'a'.repeat(64);
const bundle = {
  digest: hash,
  pageHashes: new Map(
    ['404.html', 'guide/index.html', 'guide/install.html', 'index.html'].map((path) => [path, hash]),
  ),
  files: ['404.html', 'assets/app.js', 'guide/index.html', 'guide/install.html', 'index.html'].map(
    (path) => ({
      path,
      offset: 0,
      size: 1,
      sha256: hash,
    }),
  ),
};

const rows: readonly (readonly [address: string, page: string, isInBundle: boolean])[] = [
  ['https://docs.example.com', '/', true],
  ['https://docs.example.com/', '/', true],
  ['https://docs.example.com/index.html?from=mail#top', '/', true],
  ['https://docs.example.com/guide', '/guide', true],
  ['https://docs.example.com/guide/', '/guide', true],
  ['https://docs.example.com/guide/install#step-2', '/guide/install', true],
  ['/guide/install.html', '/guide/install', true],
  ['https://docs.example.com/gui%64e', '/guide', true],
  ['https://docs.example.com/guide/missing/', '/guide/missing', false],
  ['https://docs.example.com/guide/../../etc/passwd', '/etc/passwd', false],
];

test('the address of a file that holds JSON is not one of a page', () => {
  const files = bundle.files.map((file) => ({
    ...file,
    ...(file.path === 'guide/index.html' && { isData: true as const }),
  }));
  assert.equal(createPageMap({ ...bundle, files }, '').find('/guide')?.isInBundle, false);
});

for (const [address, page, isInBundle] of rows) {
  test(`${address} is ${page}, which the bundle ${isInBundle ? 'has' : 'lacks'}`, () => {
    const found = createPageMap(bundle, '').find(address);
    assert.deepEqual([found?.page, found?.isInBundle], [page, isInBundle]);
    const without = createPageMap(undefined, '').find(address);
    assert.equal(without?.isInBundle, undefined);
    assert.equal(without?.page, page);
  });
}

test('a base path is taken away, and other paths are not of the bundle', () => {
  const map = createPageMap(bundle, '/docs');
  assert.deepEqual(map.find('https://example.com/docs/guide'), {
    host: 'example.com',
    page: '/guide',
    isInBundle: true,
  });
  assert.deepEqual(map.find('https://example.com/docs'), {
    host: 'example.com',
    page: '/',
    isInBundle: true,
  });
  assert.equal(map.find('https://example.com/guide')?.isInBundle, false);
});

for (const address of [
  '',
  'guide',
  'mailto:a@example.com',
  'javascript:alert(1)',
  'https://',
  `/${'a'.repeat(3000)}`,
]) {
  test(`"${address.slice(0, 30)}" is not the address of a page`, () => {
    assert.equal(createPageMap(bundle, '').find(address), undefined);
  });
}

test('pages have a short hash, and other files have none', () => {
  assert.deepEqual([...(createPageMap(bundle, '').hashes ?? [])].sort(), [
    ['/', 'aaaaaaaaaaaa'],
    ['/404', 'aaaaaaaaaaaa'],
    ['/guide', 'aaaaaaaaaaaa'],
    ['/guide/install', 'aaaaaaaaaaaa'],
  ]);
});

test('any text has a page or none, without an error, and without a slash at its end', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl(), fc.string({ unit: 'binary' }), fc.webPath()), (address) => {
      const found = createPageMap(bundle, '').find(address);
      assert.ok(found === undefined || found.page === '/' || !found.page.endsWith('/'));
    }),
  );
});
