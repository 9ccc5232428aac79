// Foreign text as it is shown: no hidden characters, and a limited length.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPrintable, printable, printableValue } from '#platform/wire/printable-text.ts';
import * as fc from '../../../support/properties.ts';

/** As the rule is put, one range after the other, and not as the code puts it. */
const hidden: readonly (readonly [string, number, number])[] = [
  ['C0 controls', 0x00, 0x1f],
  ['DEL and C1 controls', 0x7f, 0x9f],
  ['a soft hyphen', 0xad, 0xad],
  ['an Arabic letter mark', 0x61c, 0x61c],
  ['zero width and direction marks', 0x200b, 0x200f],
  ['line and paragraph separators, and embeddings', 0x2028, 0x202e],
  ['word joiners and isolates', 0x2060, 0x2069],
  ['a Hangul filler', 0x3164, 0x3164],
  ['lone surrogates', 0xd800, 0xdfff],
  ['private use', 0xe000, 0xe000],
  ['variation selectors', 0xfe00, 0xfe0f],
  ['a byte order mark', 0xfeff, 0xfeff],
  ['tags', 0xe0001, 0xe007f],
];

for (const [what, first, last] of hidden) {
  test(`escaped: ${what}`, () => {
    for (let code = first; code <= last; code += 1) {
      const text = `a${String.fromCodePoint(code)}b`;
      assert.equal(printable(text), `a\\u{${code.toString(16)}}b`);
      assert.equal(isPrintable(text), false);
    }
  });
}

test('ordinary text of any language is unchanged', () => {
  for (const text of [
    '',
    'se_0123 /a-b',
    'größe.html',
    '日本語',
    'हिन्दी',
    'العربية',
    'שלום',
    '😀',
    '\\u{7}',
    '…',
  ]) {
    assert.equal(printable(text), text);
    assert.ok(isPrintable(text));
  }
});

test('a text that is too long ends in an ellipsis, never within a character or an escape', () => {
  assert.equal(printable('abcdef', 6), 'abcdef');
  assert.equal(printable('abcdefg', 6), 'abcde…');
  assert.equal(printable('abcd😀g', 6), 'abcd…');
  assert.equal(printable('ab\u202eg', 6), 'ab…');
  assert.equal(printable('x'.repeat(1e6)).length, 2048);
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('a', '\\', 'u', '{', '\u202e', '\u2028', '\ud83d', '\ude00', '\u0007', '…'),
  }),
  fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }),
);

test('property: the result is printable, bounded and well-formed, and a second call does not change it', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 16, max: 80 }), (text, maxLength) => {
      const shown = printable(text, maxLength);
      assert.ok(isPrintable(shown) && shown.isWellFormed() && shown.length <= maxLength);
      assert.equal(printable(shown, maxLength), shown);
      if (isPrintable(text) && text.length <= maxLength) assert.equal(shown, text);
    }),
  );
});

test('every text and name within a value is printable, and nothing else changes', () => {
  const date = new Date(0);
  assert.deepEqual(
    printableValue({ 'a\n': ['\u202e', 1, null, true, undefined, date], b: { c: 'd\u0085' } }),
    {
      'a\\u{a}': ['\\u{202e}', 1, null, true, undefined, date],
      b: { c: 'd\\u{85}' },
    },
  );
});
