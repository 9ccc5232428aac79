import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeFrequencies,
  decodeNumbers,
  decodePages,
  encodeFrequencies,
  encodeNumbers,
  encodePages,
  frequencyClass,
} from '#site/search/postings.ts';
import * as fc from '../../../support/properties.ts';

const pages = fc
  .uniqueArray(fc.nat({ max: 2 ** 26 }), { maxLength: 200 })
  .map((list) => list.sort((a, b) => a - b));

test('numbers, pages and frequencies are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 2 ** 30 - 1 })), (numbers) => {
      assert.deepEqual(decodeNumbers(encodeNumbers(numbers)), numbers);
    }),
  );
  fc.assert(
    fc.property(pages, (list) => {
      assert.deepEqual(
        decodePages(encodePages(list)).map(({ page }) => page),
        list,
      );
      const packed = list.map((page, at) => page * 4 + (at % 4));
      assert.deepEqual(
        decodeFrequencies(encodeFrequencies(packed)),
        list.map((page, at) => ({ page, frequency: 2 ** (at % 4) })),
      );
    }),
  );
});

test('a number of times is kept as the next lower power of two, up to eight', () => {
  assert.deepEqual([1, 2, 3, 4, 7, 8, 1000].map(frequencyClass), [0, 1, 1, 2, 2, 3, 3]);
});

test('what is not a digit ends a list', () => {
  assert.deepEqual(decodeNumbers('AB!C'), [0, 1]);
  assert.deepEqual(decodeNumbers('gggggggggg'), []);
  fc.assert(fc.property(fc.string(), (text) => decodePages(text).length <= text.length));
});
