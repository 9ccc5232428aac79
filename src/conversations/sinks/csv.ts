// Turns as CSV (RFC 4180) that a spreadsheet opens without running anything. A text that would be a formula gets one tab in
// front. Invariant: `plainCell` of a cell is the text again, because a text that begins with a tab gets one too.

import { type Turn, turnColumns } from '../turn.ts';
import type { LineFormat } from './line-sink.ts';

/** What spreadsheets run or cut off: formula signs with their full-width forms, and characters that they trim before. */
const dangerousStart = /^[\t\r\n=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;

/** An apostrophe, the usual way, would be a part of the text when a program reads the file. */
export const harmlessText = (text: string): string => (dangerousStart.test(text) ? `\t${text}` : text);

/** The text that {@link harmlessText} was given. */
export const plainText = (cell: string): string => (cell.startsWith('\t') ? cell.slice(1) : cell);

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
