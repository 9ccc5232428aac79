// Types by extension, as browsers and the payload loaders of docs generators need them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentTypeOf, isDocument } from '#bundle/content-type.ts';
import * as fc from '../../support/properties.ts';

const rows: readonly (readonly [string, string])[] = [
  ['index.html', 'text/html; charset=utf-8'],
  ['a/PAGE.HTML', 'text/html; charset=utf-8'],
  ['guides/start.txt', 'text/plain; charset=utf-8'],
  ['app.js', 'text/javascript; charset=utf-8'],
  ['app.mjs', 'text/javascript; charset=utf-8'],
  ['app.js.map', 'application/json; charset=utf-8'],
  ['style.css', 'text/css; charset=utf-8'],
  ['llms.md', 'text/markdown; charset=utf-8'],
  ['site.webmanifest', 'application/manifest+json; charset=utf-8'],
  ['sitemap.xml', 'application/xml; charset=utf-8'],
  ['logo.svg', 'image/svg+xml; charset=utf-8'],
  ['font.woff2', 'font/woff2'],
  ['favicon.ico', 'image/vnd.microsoft.icon'],
  ['openapi.yaml', 'application/yaml; charset=utf-8'],
  ['demo.mp4', 'video/mp4'],
  ['module.wasm', 'application/wasm'],
  ['.well-known/apple-app-site-association', 'application/json; charset=utf-8'],
  ['docs/1.4/changes', 'application/octet-stream'],
  ['file.unknown', 'application/octet-stream'],
  ['constructor', 'application/octet-stream'],
  ['a.__proto__', 'application/octet-stream'],
];

test('a name has the type that its readers expect', () => {
  for (const [path, type] of rows) assert.equal(contentTypeOf(path), type, path);
});

test('a type is a header value whatever the name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      assert.match(contentTypeOf(name), /^[\x21-\x7e]+(; charset=utf-8)?$/);
    }),
  );
});

test('documents are what a browser opens as a page', () => {
  assert.deepEqual(['a.html', 'a.HTM', 'a.xhtml', 'a.txt', 'html', 'a.html.map'].map(isDocument), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
