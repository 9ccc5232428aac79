// The srcset attribute, in which commas are separators and parts of addresses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSrcset } from '#platform/html/srcset.ts';
import * as fc from '../../../support/properties.ts';

const rows: readonly (readonly [string, string, readonly string[]])[] = [
  ['nothing', '', []],
  ['only separators', ' , ,', []],
  ['one address', 'a.png', ['a.png']],
  ['densities', 'a.png 1x, b.png 2x', ['a.png', 'b.png']],
  ['widths without space after the comma', 'a.png 100w,b.png 200w', ['a.png', 'b.png']],
  ['no descriptors', 'a.png, b.png', ['a.png', 'b.png']],
  ['a comma inside an address', 'i/w_100,h_50/a.png 1x, b.png', ['i/w_100,h_50/a.png', 'b.png']],
  ['a comma without a space joins', 'a.png,b.png', ['a.png,b.png']],
  ['a data address', 'data:image/png;base64,AA== 1x, b.png 2x', ['data:image/png;base64,AA==', 'b.png']],
  ['parentheses hide commas', 'a.png foo(1,2) 1x, b.png', ['a.png', 'b.png']],
  ['trailing commas', 'a.png,, b.png 2x,', ['a.png', 'b.png']],
  ['line breaks', '\n a.png 1x,\n\tb.png 2x\n', ['a.png', 'b.png']],
];
for (const [name, text, expected] of rows) {
  test(`srcset: ${name}`, () => assert.deepEqual([...readSrcset(text)], expected));
}

test('any text gives addresses without white space and without commas at their ends', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(',', ' ', 'a', '(', ')', '2x', '\n')).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (srcset) => {
      for (const url of readSrcset(srcset)) assert.match(url, /^[^\s,](?:\S*[^\s,])?$/);
    }),
  );
});
