// Building blocks of a hostile vendor's answers: bytes with a pace and an end, and values that no honest vendor sends.
// Pure. Every answer is bounded in bytes and in time.

import type { Dice } from '../mutation.ts';
import { isLucky, makeOddText, pick } from './choice.ts';

export const stages = ['start', 'poll', 'bundle'] as const;
export type Stage = (typeof stages)[number];

/** Sent so many times in a row. */
export interface Piece {
  readonly bytes: string | Buffer;
  readonly times: number;
  /** Between two of them; none where absent. */
  readonly everyMs?: number;
}

export interface HostileAnswer {
  /** Head included. */
  readonly pieces: readonly Piece[];
  /** What becomes of the connection. */
  readonly end: 'close' | 'reset' | 'hang';
}

export interface AnswerContext {
  readonly jobId: string;
  /** As the operator sent it: what must not come back out of it anywhere. */
  readonly key: string;
  /** Where this vendor has archives. */
  readonly filesUrl: string;
  /** Where no key may ever arrive. */
  readonly trapUrl: string;
  readonly now: number;
}

/** An answer by dice. */
export type AnswerMaker = (dice: Dice, context: AnswerContext) => HostileAnswer;
export type Headers = readonly (readonly [name: string, value: string])[];

export const json: Headers = [['content-type', 'application/json']];

export const head = (status: number | string, headers: Headers = json): string =>
  `HTTP/1.1 ${status} Said\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}connection: close\r\n\r\n`;

export const once = (bytes: string | Buffer): Piece => ({ bytes, times: 1 });
export const answer = (pieces: readonly Piece[], end: HostileAnswer['end'] = 'close'): HostileAnswer => ({
  pieces,
  end,
});
export const body = (text: string | Buffer, status = 200, headers: Headers = json): HostileAnswer =>
  answer([once(head(status, headers)), once(text)]);
export const value = (data: unknown, status = 200, headers: Headers = json): HostileAnswer =>
  body(JSON.stringify(data), status, headers);

/** What an honest vendor would say, for everything else to differ from. */
export const honest = (stage: Stage, { jobId, filesUrl, now }: AnswerContext): Record<string, unknown> => {
  if (stage === 'start') return { jobId };
  if (stage === 'poll') return { jobId, status: 'completed', progress: 100, pageCount: 1 };
  return { bundleUrl: `${filesUrl}/honest`, expiresAt: new Date(now + 60_000).toISOString() };
};

export const oddValues: readonly unknown[] = [
  null,
  true,
  '',
  [],
  {},
  -1,
  0.5,
  Number.MAX_SAFE_INTEGER,
  1e308,
  '9'.repeat(400),
  [[[]]],
  { toString: 1 },
  '__proto__',
  '../..',
  '%00',
  '.',
  '..',
  '/',
  '\\',
  'a/b?c#d',
  '\ud83d',
  'x'.repeat(600),
  'x'.repeat(100_000),
];

/** Of any shape, with names that answers have. */
export function makeValue(dice: Dice, depth = 0): unknown {
  if (depth > 4 || isLucky(dice, 40)) {
    return isLucky(dice, 50) ? pick(dice, oddValues) : makeOddText(dice, 300);
  }
  const parts = Array.from({ length: dice(6) }, () => makeValue(dice, depth + 1));
  if (isLucky(dice, 40)) return parts;
  const names = [
    'jobId',
    'id',
    'status',
    'state',
    'progress',
    'pageCount',
    'bundleUrl',
    'expiresAt',
    'error',
    '__proto__',
  ];
  return Object.fromEntries(parts.map((part) => [pick(dice, names), part]));
}
