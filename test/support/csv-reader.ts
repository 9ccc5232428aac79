// CSV as RFC 4180 says, written apart from the code under test. Refuses a line that ends otherwise than the file should.

import assert from 'node:assert/strict';

/** @returns the cells of each row; null is a cell without quotes and text */
export function readCsv(text: string, lineEnd: '\r\n' | '\n' = '\r\n'): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (let at = 0; at < text.length; ) {
    let cell: string | null = null;
    if (text[at] === '"') {
      cell = '';
      for (at += 1; ; at += 1) {
        assert.ok(at < text.length, 'a quote is not closed');
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else break;
      }
      at += 1;
    } else {
      const start = at;
      while (at < text.length && text[at] !== ',' && text[at] !== lineEnd[0]) at += 1;
      cell = start === at ? null : text.slice(start, at);
    }
    row.push(cell);
    if (text[at] === ',') at += 1;
    else {
      assert.equal(text.slice(at, at + lineEnd.length), lineEnd);
      at += lineEnd.length;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}
