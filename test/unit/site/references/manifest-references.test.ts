// A web app manifest is foreign JSON: lists of images are read, and everything else is ignored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readManifestReferences } from '#site/references/manifest-references.ts';
import * as fc from '../../../support/properties.ts';

const rows: readonly (readonly [string, string, readonly string[]])[] = [
  ['icons', '{"icons":[{"src":"a.png","sizes":"1x1"},{"src":"/b.png"}]}', ['a.png', '/b.png']],
  [
    'screenshots and shortcuts',
    '{"screenshots":[{"src":"s.png"}],"shortcuts":[{"icons":[{"src":"c.png"}]}]}',
    ['s.png', 'c.png'],
  ],
  ['one broken icon does not lose the others', '{"icons":[{"src":1},null,{"src":"b.png"}]}', ['b.png']],
  ['icons that are no list', '{"icons":"a.png","screenshots":[{"src":"s.png"}]}', ['s.png']],
  ['no JSON', '<html>', []],
  ['no object', '[]', []],
];
for (const [name, text, expected] of rows) {
  test(`manifest: ${name}`, () =>
    assert.deepEqual(
      readManifestReferences(text).map((reference) => reference.text),
      expected,
    ));
}

test('no JSON makes the reader throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      assert.ok(Array.isArray(readManifestReferences(text)));
    }),
  );
});
