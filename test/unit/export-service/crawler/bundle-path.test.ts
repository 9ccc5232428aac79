// The layout that servers of static exports expect, one row per kind of address.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentPath, filePath } from '../../../../src/export-service/crawler/bundle-path.ts';

const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ['/', 'index.html', undefined],
  ['/guides/x', 'guides/x.html', 'guides/x'],
  ['/guides/x.html', 'guides/x.html', 'guides/x.html'],
  ['/guides/', 'guides/index.html', undefined],
  ['/guides/index.html', 'guides/index.html', 'guides/index.html'],
  ['/old.htm', 'old.htm', 'old.htm'],
  ['/page.xhtml', 'page.xhtml', 'page.xhtml'],
  ['/docs/1.4', 'docs/1.4.html', 'docs/1.4'],
  ['/a%20b/%C3%A9', 'a b/é.html', 'a b/é'],
  ['/e%CC%81', 'e\u0301.html', 'e\u0301'],
  ['/bad%2Fname', undefined, undefined],
];
for (const [address, document, file] of rows) {
  test(`${address} is ${document} as a page and ${file} as a file`, () => {
    assert.equal(documentPath({ path: address, query: '?v=1' }), document);
    assert.equal(filePath({ path: address, query: '?v=1' }), file);
  });
}
