// The field that names the host: once, and of a form that can be one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHostValue, isHostWellFormed } from '#server/http/host-field.ts';
import * as fc from '../../../support/properties.ts';

const values: readonly (readonly [string, boolean])[] = [
  ['docs.example.com', true],
  ['docs.example.com:8080', true],
  ['docs.example.com:', true],
  ['127.0.0.1:80', true],
  ['[::1]:8080', true],
  ['[::ffff:10.0.0.1]', true],
  ['d%C3%B6cs', true],
  ['a_b', true],
  ['', true],
  ['a b', false],
  ['a b/@', false],
  ['a/b', false],
  ['user@host', false],
  ['a:b', false],
  ['a:80:80', false],
  ['a, b', false],
  ['::1', false],
  ['[::1', false],
  ['[]', false],
  ['http://a', false],
  ['a?b', false],
  ['a#b', false],
  ['a\\b', false],
  ['a"b', false],
  ['é', false],
  ['a\t', false],
];

test('what can name a host', () => {
  for (const [value, isOne] of values) {
    assert.equal(isHostValue(value), isOne, JSON.stringify(value));
  }
});

test('the field stands once; HTTP/1.0 may leave it out', () => {
  assert.equal(isHostWellFormed(['Accept', 'host', 'HOST', 'a'], true), true);
  assert.equal(isHostWellFormed(['Accept', '*/*'], true), false);
  assert.equal(isHostWellFormed(['Accept', '*/*'], false), true);
  assert.equal(isHostWellFormed(['Host', 'a', 'host', 'a'], true), false);
  assert.equal(isHostWellFormed(['Host', 'a', 'host', 'b'], false), false);
  assert.equal(isHostWellFormed(['Host', 'a/b'], false), false);
});

test('an accepted host has no white space, slash, at sign or quote', () => {
  fc.assert(fc.property(fc.string(), (text) => !isHostValue(text) || !/[\s/@?#"\\<>]/.test(text)));
});
