// CSV: no cell runs in a spreadsheet, and each text comes back as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellOf, csv, plainText } from '#conversations/sinks/csv.ts';
import { readCsv } from '../../../support/csv-reader.ts';
import * as fc from '../../../support/properties.ts';
import { sampleTurn } from '../../../support/sample-turn.ts';

/** Texts with what a formula needs, and ordinary ones. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n;,"\' \0\u200B＝＋－＠a1') }),
);

test('each text comes back from its cell', () => {
  fc.assert(
    fc.property(fc.array(fc.option(anyText), { minLength: 2 }), (texts) => {
      const [row] = readCsv(`${texts.map(cellOf).join(',')}\r\n`);
      const found = row?.map((cell) => (cell === null ? null : plainText(cell)));
      assert.deepEqual(found, texts);
    }),
  );
});

test('no cell begins with what a spreadsheet runs', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const [[cell] = []] = readCsv(`${cellOf(text)}\r\n`);
      assert.doesNotMatch(cell ?? '', /^[=+\-@＝＋－＠\r\n]/);
    }),
  );
});

/** Where a spreadsheet with semicolons between cells begins one: quotes within a text mean nothing to it. */
const cellsBySemicolon = (row: string): readonly string[] => row.split(/[;\r\n]/);

test('no cell begins with what a spreadsheet runs where semicolons are between cells', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const cell of cellsBySemicolon(`key,${cellOf(text)}`))
        assert.ok(
          cell.startsWith('\t') || !/^[\s\0"\u200B]*[=+\-@＝＋－＠]/.test(cell),
          JSON.stringify(cell),
        );
    }),
  );
});

for (const [text, harmless] of [
  ['=1', '\t=1'],
  ['\0=1', '\t\0=1'],
  [' =1', '\t =1'],
  ['\t', '\t\t'],
  ['\n=1', '\t\n\t=1'],
  ['a;=1', 'a;\t=1'],
  ['a;"=1"', 'a;\t"=1"'],
  ['a\r\n- b', 'a\r\n\t- b'],
  ['a\r\n\tb', 'a\r\n\t\tb'],
  ['a=1, b; c\td', 'a=1, b; c\td'],
] as const) {
  test(`${JSON.stringify(text)} is written as ${JSON.stringify(harmless)}`, () => {
    assert.deepEqual(readCsv(`${cellOf(text)}\r\n`), [[harmless]]);
    assert.equal(plainText(harmless), text);
  });
}

test('ten million spaces take no more than their number', () => {
  const text = ' '.repeat(10_000_000);
  assert.ok(cellOf(text).length <= text.length + 2);
});

test('a turn has a cell for each column', () => {
  const [header, row] = readCsv(csv.header + csv.lineOf(sampleTurn({ query: '=cmd|calc', response: null })));
  assert.equal(header?.length, row?.length);
  assert.equal(row?.[header?.indexOf('query') ?? -1], '\t=cmd|calc');
  assert.equal(row?.[header?.indexOf('response') ?? -1], null);
});
