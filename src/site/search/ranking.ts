// The order of results: by how much of the query a page has, then by how much of its title the query is. Pure. Invariant: the same
// matches give the same order, whatever files are loaded first.

import type { SearchResult as FoundPage } from 'minisearch';
import type { PlannedUnit } from './query.ts';

/** Weights of fields for MiniSearch. */
export const fieldBoosts: { title: number; headings: number; text: number } = {
  title: 5,
  headings: 2,
  text: 1,
};

export interface RankedPage {
  readonly page: number;
  readonly score: number;
  /** Terms of the index that the query found on the page. */
  readonly terms: ReadonlySet<string>;
}

/** A page that has less of the query than this part of the best one is left out. */
const leastCoverage = 0.5;

/** @param titleLength different terms of a page's title */
export function rankPages(
  found: readonly FoundPage[],
  units: readonly PlannedUnit[],
  titleLength: (page: number) => number,
): readonly RankedPage[] {
  const counted = units.filter(({ unit }) => unit.isCounted);
  const total = Math.max(1, counted.length);
  const ranked = found.map((one) => {
    const asked = new Set(one.queryTerms);
    const covered = counted.filter((unit) => !unit.asked.isDisjointFrom(asked)).length / total;
    const inTitle = Object.values(one.match).filter((fields) => fields.includes('title')).length;
    const page = Number(one.id);
    const ofQuery = Math.min(1, inTitle / total);
    const ofTitle = Math.min(1, inTitle / Math.max(1, titleLength(page)));
    // A long page has many words that differ by a letter, and the sum of all would be above any title.
    const score = Math.log1p(one.score) * covered ** 2 * (1 + ofQuery * (1 + 3 * ofTitle));
    return { page, score, covered, terms: new Set(one.terms) };
  });
  const best = ranked.reduce((most, { covered }) => Math.max(most, covered), 0);
  return ranked
    .filter(({ covered }) => covered >= leastCoverage * best)
    .toSorted((a, b) => b.score - a.score || a.page - b.page);
}
