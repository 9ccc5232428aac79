// The order of results: by how much of the query a page has, then by how much of its title the query is. Pure. Invariant: the same
// matches give the same order, whatever files are loaded first.

import type { MatchedPage } from './page-index.ts';
import type { QueryUnit } from './query.ts';

export interface RankedPage {
  readonly page: number;
  readonly score: number;
}

/** A page that has less of the query than this part of the best one is left out. */
const leastCoverage = 0.5;

/** @param titleLength different terms of a page's title */
export function rankPages(
  found: readonly MatchedPage[],
  units: readonly QueryUnit[],
  titleLength: (page: number) => number,
): readonly RankedPage[] {
  const counted = units.reduce((bits, { isCounted }, at) => (isCounted ? bits | (1 << at) : bits), 0);
  const total = Math.max(1, bitsOf(counted));
  const best = found.reduce((most, one) => Math.max(most, bitsOf(one.units & counted)), 0) / total;
  const ranked: RankedPage[] = [];
  for (const { page, score, units: own, inTitle } of found) {
    const covered = bitsOf(own & counted) / total;
    if (covered < leastCoverage * best) continue;
    const ofQuery = Math.min(1, inTitle / total);
    const ofTitle = Math.min(1, inTitle / Math.max(1, titleLength(page)));
    // A long page has many words that differ by a letter, and the sum of all would be above any title.
    const ofTexts = Math.log1p(score * bitsOf(own));
    ranked.push({ page, score: ofTexts * covered ** 2 * (1 + ofQuery * (1 + 3 * ofTitle)) });
  }
  return ranked.sort((a, b) => b.score - a.score || a.page - b.page);
}

function bitsOf(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
