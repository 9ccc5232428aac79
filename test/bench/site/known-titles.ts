// Titles that one page alone has, as queries whose answer is known: as they are, and with one mistake. The same seed gives the same ones.

import type { TitlesFile } from '#site/search/search-format.ts';

/** @returns 0 to 1, without 1 */
export type Draw = () => number;

export interface KnownPage {
  readonly path: string;
  readonly title: string;
}

/** Titles that one page alone has. */
export function drawTitles(file: TitlesFile, count: number, draw: Draw): readonly KnownPage[] {
  const counts = new Map<string, number>();
  for (const title of file.titles) counts.set(title, (counts.get(title) ?? 0) + 1);
  const pool = file.paths.flatMap((path, page): readonly KnownPage[] => {
    const title = file.titles[page] ?? '';
    return counts.get(title) === 1 && title.length > 2 ? [{ path, title }] : [];
  });
  console.log(`${pool.length} of ${file.titles.length} titles are of one page`);
  return Array.from({ length: Math.min(count, pool.length) }, () =>
    pool.splice(Math.floor(draw() * pool.length), 1),
  ).flat();
}

/** A letter left out, added, replaced, or in the wrong order; `undefined` where no word is long enough. */
export function withMistake(title: string, draw: Draw): string | undefined {
  const words = [...title.matchAll(/\p{L}{4,}/gu)];
  const word = words[Math.floor(draw() * words.length)];
  if (word === undefined) return undefined;
  const at = word.index + 1 + Math.floor(draw() * (word[0].length - 2));
  const letter = String.fromCodePoint(97 + Math.floor(draw() * 26));
  const [before, own = '', next = ''] = [title.slice(0, at), title[at], title[at + 1]];
  const mistakes = [
    title.slice(at + 1),
    letter + title.slice(at),
    letter + title.slice(at + 1),
    next + own + title.slice(at + 2),
  ];
  return before + mistakes[Math.floor(draw() * mistakes.length)];
}

/** Another first letter of a word; `undefined` where no word is long enough. */
export function withWrongStart(title: string, draw: Draw): string | undefined {
  const words = [...title.matchAll(/\p{L}{4,}/gu)];
  const word = words[Math.floor(draw() * words.length)];
  if (word === undefined) return undefined;
  const letter = String.fromCodePoint(97 + Math.floor(draw() * 26));
  return title.slice(0, word.index) + letter + title.slice(word.index + 1);
}

/** The same numbers in each run (mulberry32). */
export function createDraw(seed: number): Draw {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
