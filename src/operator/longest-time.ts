// How much time has passed, at the most, for whoever must not believe that it was less: the one clock stands still
// while a machine sleeps, the other one can be set. What runs faster counts, look by look.
// Invariant: no setting of the wall clock makes it less than what the monotonic clock says.

import type { Clock } from '../runtime/clock.ts';

/** Wall time comes in whole milliseconds: counted more often, its rounding alone would add up. */
const countEveryMs = 100;

/** @returns a time in ms of an origin of its own, which never runs slower than either of the clock's two */
export function longestTime(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  let passedMs = 0;
  let monotonic = clock.monotonic();
  let wall = clock.now();
  return () => {
    const next = { monotonic: clock.monotonic(), wall: clock.now() };
    const sinceMs = Math.max(0, next.monotonic - monotonic, next.wall - wall);
    const wasSetBack = next.wall < wall;
    if (sinceMs < countEveryMs && !wasSetBack) return passedMs + sinceMs;
    passedMs += sinceMs;
    ({ monotonic, wall } = next);
    return passedMs;
  };
}
