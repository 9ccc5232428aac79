// Addresses of pages as agents write them: which page each leads to, and that an address that is given leads back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOwnAuthority, readOwnHost } from '#server/mcp/own-hosts.ts';
import { createPageDirectory } from '#site/mcp/page-directory.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import * as fc from '../../../support/properties.ts';

const directory = createPageDirectory(
  memoryBundle({
    'index.html': '',
    'guide/index.html': '',
    'guide/install.html': '',
    'über/a b.html': '',
    'docs/index.html': '',
    'style.css': '',
    '404.html': '',
    '.hidden/page.html': '',
    '_sx/report.json': '',
  }).index,
);
const hosts = ['docs.example.com', 'http://docs.docs.svc'].map(readOwnHost);
const entry = {
  isOwnHost: (authority: string) => isOwnAuthority(hosts, authority, 'docs.example.com:8080'),
  basePath: '/docs',
};

const rows: readonly (readonly [address: string, path: string])[] = [
  ['/docs/', 'index.html'],
  ['/docs', 'index.html'],
  ['/', 'index.html'],
  ['', 'index.html'],
  ['/docs/guide/', 'guide/index.html'],
  ['/docs/guide', 'guide/index.html'],
  ['/guide/', 'guide/index.html'],
  ['guide/install', 'guide/install.html'],
  ['/docs/guide/install.html', 'guide/install.html'],
  ['/docs/guide/install?a=b#c', 'guide/install.html'],
  ['/docs/%C3%BCber/a%20b', 'über/a b.html'],
  ['/docs/u\u0308ber/a b', 'über/a b.html'],
  ['/docs/docs/', 'docs/index.html'],
  ['https://docs.example.com/docs/guide/', 'guide/index.html'],
  ['//DOCS.example.com/docs/guide/', 'guide/index.html'],
  ['https://docs.example.com:443/docs/guide/', 'guide/index.html'],
  ['https://docs.example.com./docs/guide/', 'guide/index.html'],
  ['http://docs.example.com:8080/docs/guide/', 'guide/index.html'],
  ['http://docs.docs.svc/docs/guide/', 'guide/index.html'],
];

for (const [address, path] of rows) {
  test(`${JSON.stringify(address)} leads to ${path}`, () => {
    const found = directory.find(address, entry);
    assert.equal(typeof found === 'string' ? found : found.file.path, path);
  });
}

for (const address of [
  '/docs/nope',
  '/style.css',
  '/404',
  '/.hidden/page',
  '/_sx/report.json',
  '/%ff',
  '/../index',
  '/%00',
]) {
  test(`${JSON.stringify(address)} leads to no page`, () => {
    assert.equal(directory.find(address, entry), 'none');
  });
}

for (const address of [
  'https://evil.example/docs/',
  '//evil.example/guide/',
  'http://docs.example.com:81/docs/',
  'https://docs.example.com@evil.example/',
]) {
  test(`${address} is of another site`, () => {
    assert.equal(directory.find(address, entry), 'other-site');
  });
}

test('an anchor is kept, decoded', () => {
  const found = directory.find('/docs/guide/install#on%20linux', entry);
  assert.ok(typeof found !== 'string');
  assert.equal(found.anchor, 'on linux');
});

test('each address that is given leads back to its page, whatever the names of files are', () => {
  const name = fc
    .string({ minLength: 1, maxLength: 8, unit: 'grapheme' })
    .filter((text) => !/[/\\\p{C}]|^\.+$/u.test(text) && text.isWellFormed());
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 6 }), fc.constantFrom('', '/docs'), (names, basePath) => {
      const site = Object.fromEntries(names.map((one) => [`${one}/${one}.html`, '']));
      const pages = createPageDirectory(memoryBundle(site).index);
      for (const file of pages.files) {
        const address = pages.addressOf(file, { basePath });
        assert.match(address, /^[\x21-\x7e]+$/);
        const found = pages.find(address, { isOwnHost: () => false, basePath });
        assert.equal(typeof found === 'string' ? found : found.file.path, file.path, address);
      }
    }),
  );
});
