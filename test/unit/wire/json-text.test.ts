// Text that may be JSON: its value, or undefined.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson } from '../../../src/wire/json-text.ts';
import * as fc from '../../support/properties.ts';

test('JSON text gives its value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(readJson(text), JSON.parse(text));
    }),
  );
});

test('text that is not JSON, and absent text, give undefined', () => {
  for (const text of [undefined, '', '{', 'nul', '\u0000', "{'a':1}"]) {
    assert.equal(readJson(text), undefined, String(text));
  }
});
