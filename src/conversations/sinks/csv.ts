// Turns as CSV (RFC 4180) that a spreadsheet opens without running anything. A tab comes before each formula, also where a
// spreadsheet with other separators would begin a cell. Invariant: `plainText` of a cell is the text again.

import { type Turn, turnColumns } from '../turn.ts';
import type { LineFormat } from './line-sink.ts';

const codesOf = (chars: string): ReadonlySet<number> => new Set([...chars].map((char) => char.charCodeAt(0)));
const formulaSigns = codesOf('=+-@\uFF1D\uFF0B\uFF0D\uFF20');
/** Where commas are for decimals, cells end here, and quotes within a cell mean nothing. */
const cellEnds = codesOf(';\r\n');
const lineEnds = codesOf('\r\n');
const tab = 0x09;
/** LibreOffice drops NUL before a sign; other programs trim spaces and what shows nothing. */
const skippedBeforeSign = /[\s\p{Cc}\p{Cf}"]/u;
const isSkipped = (code: number): boolean =>
  code < 0x80 ? code <= 0x22 && code !== 0x21 : skippedBeforeSign.test(String.fromCharCode(code));

/** An apostrophe, the usual way, would be a part of the text when a program reads the file. */
function harmlessText(text: string): string {
  let harmless = lineEnds.has(text.charCodeAt(0)) ? '\t' : '';
  let copied = 0;
  /** Where a spreadsheet may begin a cell of which nothing was seen yet that shows. */
  let start: number | undefined = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (cellEnds.has(code)) start = at + 1;
    else if (start === undefined) continue;
    // A tab of the text gets one too, so that the tab in front can be told from it.
    else if (formulaSigns.has(code) || (code === tab && at === start)) {
      harmless += `${text.slice(copied, start)}\t`;
      copied = start;
      start = undefined;
    } else if (!isSkipped(code)) start = undefined;
  }
  return harmless + text.slice(copied);
}

/** The text that {@link harmlessText} was given. */
export const plainText = (cell: string): string => cell.replace(/(?<=^|[;\r\n])\t/g, '');

/** Null is an empty cell, and an empty text is two quotes. */
export function cellOf(value: string | null): string {
  if (value === null) return '';
  const text = harmlessText(value);
  return /^[A-Za-z0-9_:./ -]+$/.test(text) && text.trim() === text ? text : `"${text.replaceAll('"', '""')}"`;
}

const textOf = (turn: Turn, column: (typeof turnColumns)[number]): string | null =>
  column === 'sources' ? JSON.stringify(turn.sources) : turn[column];

export const csv: LineFormat = {
  ending: '.csv',
  header: `${turnColumns.join(',')}\r\n`,
  lineOf: (turn) => `${turnColumns.map((column) => cellOf(textOf(turn, column))).join(',')}\r\n`,
};
