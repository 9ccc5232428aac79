// Choices by dice, for every generator of the hostile tenant. Pure: the same dice give the same choices.

import type { Dice } from '../mutation.ts';

/** @throws Error for an empty list */
export function pick<T>(dice: Dice, list: readonly T[]): T {
  // `undefined` may be one of the choices.
  for (const chosen of list.slice(dice(list.length)).slice(0, 1)) return chosen;
  throw new Error('an empty list');
}

/** `low` to `high`, both included. */
export const between = (dice: Dice, low: number, high: number): number => low + dice(high - low + 1);

export const isLucky = (dice: Dice, percent: number): boolean => dice(100) < percent;

/** As many times as fit into `maxChars`. */
export const fill = (piece: string, maxChars: number): string =>
  piece.repeat(Math.max(0, Math.floor(maxChars / Math.max(1, piece.length))));

/** Control, bidirectional, separator and other characters that a terminal or a log takes for more than text. */
export const oddCharacters: readonly string[] = [
  '\u0007',
  '\u001b[2J',
  '\u0085',
  '\u009b31m',
  '\u200b',
  '\u202e',
  '\u2028',
  '\u2066',
  '\ufeff',
  '\ufffd',
  '\u{1f4a3}',
  '\u{e0041}',
  'e\u0301\u0301\u0301',
  '\r\n',
  '\t',
];

/** Text of odd and of plain characters. */
export function makeOddText(dice: Dice, maxChars: number): string {
  const parts = Array.from({ length: between(dice, 1, 12) }, () =>
    isLucky(dice, 50)
      ? pick(dice, oddCharacters)
      : pick(dice, ['a', 'completed', ' ', '../', '%2e', '"', '{{']),
  );
  const text = parts.join('');
  const whole = isLucky(dice, 25) ? fill(text, maxChars) : text;
  return whole.slice(0, maxChars).toWellFormed();
}

/** How often each kind was used, for a table. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  /** Most frequent first. */
  list(): readonly (readonly [kind: string, count: number])[] {
    return [...this.#counts].sort(([, a], [, b]) => b - a);
  }
}
