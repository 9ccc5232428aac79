// Accept-Encoding in every shape: what is wanted, refused, misspelt, and which files are worth it at all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptedForms, isWorthCompressing } from '#server/http/content-encoding.ts';
import * as fc from '../../../support/properties.ts';
import { words } from '../../../support/words.ts';

const rows: readonly (readonly [string | undefined, string])[] = [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br gzip identity'],
  ['gzip, deflate, br', 'br gzip identity'],
  ['br, gzip', 'br gzip identity'],
  ['gzip', 'gzip identity'],
  ['GZIP', 'gzip identity'],
  ['x-gzip', 'gzip identity'],
  ['deflate', 'identity'],
  ['vibrate', 'identity'],
  ['*', 'br gzip identity'],
  ['*;q=0', ''],
  ['identity;q=0', ''],
  ['identity;q=0, br', 'br'],
  ['identity;q=0, *', 'br gzip'],
  ['*;q=0, gzip', 'gzip'],
  ['*;q=0.5, gzip;q=0', 'br identity'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0.000', 'identity'],
  ['br;q=0, gzip', 'gzip identity'],
  ['br;q=0.5, gzip;q=0.8', 'gzip br identity'],
  ['br;q=0.5, gzip;q=0.5', 'br gzip identity'],
  ['br;q=0.001', 'br identity'],
  ['identity, br;q=0.5', 'identity br'],
  ['identity;q=0.5, br;q=0.5', 'br identity'],
  ['br ; q = 0.5 , gzip', 'gzip br identity'],
  ['br;Q=0', 'identity'],
  [' ,, br ,', 'br identity'],
  // A weight that is none refuses: what was meant is not known.
  ['br;q=2', 'identity'],
  ['br;q=', 'identity'],
  ['br;q=x', 'identity'],
  ['br;q=-1', 'identity'],
  ['br;q=0.1234', 'identity'],
  ['br, br;q=0', 'identity'],
  ['br;q=0, br', 'identity'],
  ['br;level=5', 'identity'],
  ['"br"', 'identity'],
];

test('what a header accepts, most wanted first', () => {
  for (const [header, forms] of rows) assert.equal(acceptedForms(header).join(' '), forms, `${header}`);
});

test('no header makes the reader throw, and nothing is accepted that its text does not name', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      const forms = acceptedForms(header);
      assert.equal(new Set(forms).size, forms.length);
      for (const form of forms) {
        const isNamed = header.toLowerCase().includes(form) || header.includes('*');
        assert.ok(form === 'identity' || isNamed, form);
      }
    }),
  );
});

test('text and what is text inside is worth encoding; what is packed already, tiny or huge is not', () => {
  for (const type of [
    'text/html; charset=utf-8',
    'text/javascript; charset=utf-8',
    'application/json; charset=utf-8',
    'application/ld+json; charset=utf-8',
    'application/manifest+json; charset=utf-8',
    'application/rss+xml; charset=utf-8',
    'application/xml; charset=utf-8',
    'application/yaml; charset=utf-8',
    'application/wasm',
    'image/svg+xml; charset=utf-8',
    'font/ttf',
  ]) {
    assert.ok(isWorthCompressing(type, 5000), type);
    assert.ok(!isWorthCompressing(type, 100), type);
    assert.ok(!isWorthCompressing(type, 17 * 1024 * 1024), type);
  }
  for (const type of words('image/png font/woff2 application/zip application/pdf application/octet-stream')) {
    assert.ok(!isWorthCompressing(type, 5000), type);
  }
});
