// A file of turns as the export service lists them, of any number: for benchmarks of the listing and of its readers.

import { closeSync, openSync, writeSync } from 'node:fs';

const start = Date.UTC(2025, 0, 1);
/** One turn every 30 s: a million turns are a year. */
const stepMs = 30_000;
const words =
  'the export of a page needs its job id and a key that may read the project so check both first'.split(' ');

export const timeOfTurn = (at: number): string => new Date(start + at * stepMs).toISOString();

export const queryOfTurn = (at: number): string => `How do I ${words[at % words.length]} number ${at}?`;

/** About 1.2 KB. Every fiftieth turn is a late one: its time lies three days before its neighbours'. */
export function madeTurn(at: number, edition: string): string {
  const answer = Array.from({ length: 150 }, (_, word) => words[(at * 7 + word * 3) % words.length]).join(
    ' ',
  );
  return JSON.stringify({
    id: `conversation-${Math.floor(at / 3)}`,
    timestamp: new Date(start + at * stepMs - (at % 50 === 0 ? 3 * 86_400_000 : 0)).toISOString(),
    query: queryOfTurn(at),
    response: `${answer} (${edition})`,
    sources: [{ title: 'Export', url: `https://docs.example.com/export/${at % 900}` }],
    queryCategory: at % 4 === 0 ? null : 'setup',
    pageUrl: `https://docs.example.com/page/${at % 700}`,
    resolutionStatus: at % 9 === 0 ? 'unanswered' : 'answered',
  });
}

/** @returns bytes of the file */
export function writeTurns(path: string, turns: number, edition: string): number {
  const file = openSync(path, 'w', 0o600);
  let bytes = 0;
  for (let at = 0; at < turns; at += 1000) {
    const count = Math.min(1000, turns - at);
    const text = Array.from({ length: count }, (_, index) => madeTurn(at + index, edition)).join('\n');
    bytes += writeSync(file, `${text}\n`);
  }
  closeSync(file);
  return bytes;
}
