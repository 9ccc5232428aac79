// A bound of time on the command line: an instant, or an age. Pure. Refuses to know when now is, so that all bounds of a run
// count from one instant.

/** A point in time (epoch ms), or how long before now it is. */
export type TimeBound = { readonly at: number } | { readonly ageMs: number };

/** @param now epoch ms @returns epoch ms */
export const instantOf = (bound: TimeBound, now: number): number =>
  'at' in bound ? bound.at : now - bound.ageMs;
