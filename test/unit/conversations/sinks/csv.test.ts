// CSV: no cell runs in a spreadsheet, and each text comes back as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cellOf, csv, harmlessText, plainText } from '../../../../src/conversations/sinks/csv.ts';
import { sampleTurn } from '../../../support/sample-turn.ts';

/** RFC 4180, written apart from the code under test. Null is a cell without quotes and text. */
function readCsv(text: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (let at = 0; at < text.length; ) {
    let cell: string | null = null;
    if (text[at] === '"') {
      cell = '';
      for (at += 1; ; at += 1) {
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else break;
      }
      at += 1;
    } else {
      const start = at;
      while (at < text.length && text[at] !== ',' && text[at] !== '\r') at += 1;
      cell = start === at ? null : text.slice(start, at);
    }
    row.push(cell);
    if (text[at] === ',') at += 1;
    else {
      assert.equal(text.slice(at, at + 2), '\r\n');
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .tuple(
      fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠', "'", '"', ','),
      fc.string(),
    )
    .map(([first, rest]) => first + rest),
);

test('each text comes back from its cell', () => {
  fc.assert(fc.property(anyText, (text) => assert.equal(plainText(harmlessText(text)), text)));
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

test('a turn has a cell for each column', () => {
  const [header, row] = readCsv(csv.header + csv.lineOf(sampleTurn({ query: '=cmd|calc', response: null })));
  assert.equal(header?.length, row?.length);
  assert.equal(row?.[header?.indexOf('query') ?? -1], '\t=cmd|calc');
  assert.equal(row?.[header?.indexOf('response') ?? -1], null);
});
