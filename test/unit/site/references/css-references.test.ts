// What a style sheet loads, as a browser's tokenizer sees it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCssReferences } from '#site/references/css-references.ts';
import * as fc from '../../../support/properties.ts';

const rows: readonly (readonly [string, string, readonly string[]])[] = [
  ['a bare url', 'a { background: url(a.png) }', ['a.png']],
  ['a quoted url', `a { background: url( "a b.png" ) }`, ['a b.png']],
  ['an escaped url', 'a { background: url(a\\29 .png) }', ['a).png']],
  ['@import with a string', '@import "a.css";', ['a.css']],
  ['@import with a url and a media list', '@import url("a.css") layer(base) screen;', ['a.css']],
  ['@import with conditions', '@import "a.css" supports(content: "x");', ['a.css']],
  [
    'several sources of a font',
    '@font-face { src: url(a.woff2) format("woff2"), url(a.woff) }',
    ['a.woff2', 'a.woff'],
  ],
  [
    'image-set with strings and types',
    'a { background: image-set("a.avif" type("image/avif") 1x, "a.png" 2x) }',
    ['a.avif', 'a.png'],
  ],
  ['-webkit-image-set with urls', 'a { background: -webkit-image-set(url(a.png) 1x) }', ['a.png']],
  ['a custom property', ':root { --logo: url(a.svg) }', ['a.svg']],
  ['inside a media query', '@media print { a { background: url(a.png) } }', ['a.png']],
  ['a declaration list, as in a style attribute', 'background: url(a.png); color: red', ['a.png']],
  ['a comment loads nothing', '/* url(a.png) */', []],
  ['a string is no address by itself', 'a::after { content: "a.png" }', []],
  ['a namespace is a name', '@namespace svg url(http://www.w3.org/2000/svg);', []],
  ['a namespace, quoted', '@namespace svg "http://www.w3.org/2000/svg"; a { color: red }', []],
  ['upper case', '@IMPORT URL("a.css"); a { background: URL(b.png) }', ['a.css', 'b.png']],
  ['a broken rule does not hide the next', 'a { color: ; ) } b { background: url(b.png) }', ['b.png']],
  ['an open function does not swallow the sheet', 'a { b: image-set( } c { content: "x" }', []],
  ['an empty url', 'a { background: url() }', []],
];
for (const [name, css, expected] of rows) {
  test(`css: ${name}`, () =>
    assert.deepEqual(
      readCssReferences(css).map(({ text }) => text),
      expected,
    ));
}

test('no style sheet makes the reader throw', () => {
  const css = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom(
          'url(',
          ')',
          '"',
          "'",
          '\\',
          '@import ',
          '{',
          '}',
          ';',
          '/*',
          '*/',
          'a',
          '(',
          '<!--',
          '\n',
          '\0',
        ),
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(css, (text) => {
      for (const reference of readCssReferences(text)) assert.equal(reference.use, 'asset');
    }),
    { numRuns: 200 },
  );
});
