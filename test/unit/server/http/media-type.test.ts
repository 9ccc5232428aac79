// Accept in every shape: who gets Markdown, and that a wildcard never asks for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefersMarkdown } from '#server/http/media-type.ts';
import * as fc from '../../../support/properties.ts';

const rows: readonly (readonly [string | undefined, boolean])[] = [
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['text/*', false],
  ['text/html', false],
  ['text/plain', false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', false],
  ['text/markdown', true],
  ['TEXT/Markdown', true],
  ['text/markdown, */*', true],
  ['text/markdown, text/html', true],
  ['text/html, text/markdown', true],
  ['text/markdown, text/html, */*', true],
  ['text/markdown;q=0.9, text/html', false],
  ['text/markdown;q=0.9, text/html;q=0.8', true],
  ['text/markdown;q=0.5, text/html;q=0.5', true],
  ['text/markdown;q=0.5, */*', false],
  ['text/markdown;q=0.5, text/*;q=0.6', false],
  ['text/markdown;q=0.5, text/*;q=0.4, */*', true],
  ['text/markdown;q=0.5, text/html;q=0.1, */*', true],
  ['text/markdown;q=0', false],
  ['text/markdown;q=0.000', false],
  ['text/markdown;q=0.001', true],
  ['text/markdown;q=0, */*', false],
  ['text/markdown, text/html;q=0', true],
  ['text/markdown;q=1.000', true],
  // A weight that is not a weight counts as 0.
  ['text/markdown;q=2', false],
  ['text/markdown;q=', false],
  ['text/markdown;q=-1', false],
  ['text/markdown;q=0.1234', false],
  ['text/markdown;q=high', false],
  ['text/markdown ; Q = 0.7 , text/html;q=0.8', false],
  ['text/markdown;variant=GFM', true],
  ['text/markdown;variant="a, text/html;q=0";q=0.3, text/html;q=0.2', true],
  ['text/markdown;variant="a\\", b";q=0', false],
  ['text/markdown, text/markdown;q=0.1, text/html;q=0.5', false],
  ['application/markdown', false],
  ['text/x-markdown', false],
  ['text/markdown2', false],
  ['text /markdown', false],
  [' ,, text/markdown ,', true],
  ['text/markdown'.padEnd(5000), false],
];

for (const [header, expected] of rows) {
  test(`Accept: ${JSON.stringify(header?.slice(0, 80))} gets ${expected ? 'Markdown' : 'HTML'}`, () => {
    assert.equal(prefersMarkdown(header), expected);
  });
}

const range = fc.constantFrom('text/html', 'text/*', '*/*', 'text/plain', 'image/png', 'application/json');
const weight = fc.constantFrom('', ';q=1', ';q=0.9', ';q=0.5', ';q=0.1', ';q=0');
const ranges = fc.array(
  fc.tuple(range, weight).map((parts) => parts.join('')),
  { maxLength: 8 },
);

test('without its own name Markdown is not sent, whatever the header', () => {
  fc.assert(fc.property(ranges, (parts) => !prefersMarkdown(parts.join(', '))));
  fc.assert(fc.property(fc.string(), (text) => !prefersMarkdown(text.replace(/markdown/gi, ''))));
});

test('the order of ranges changes nothing', () => {
  fc.assert(
    fc.property(ranges, weight, fc.nat(8), (parts, own, at) => {
      const header = parts.toSpliced(at, 0, `text/markdown${own}`);
      assert.equal(prefersMarkdown(header.join()), prefersMarkdown(header.toReversed().join()));
    }),
  );
});
