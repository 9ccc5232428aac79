// How much time has passed, at the most, for whoever must not believe that it was less: the one clock stands still
// while a machine sleeps, the other one can be set. The monotonic clock counts, and whatever the wall clock gains on it.
// Invariant: no setting of the wall clock makes it less than what the monotonic clock says.

import type { Clock } from '../../runtime/clock.ts';

/** Wall time comes in whole milliseconds: what it seems to lose by that, it does not gain when it ticks. */
const roundingMs = 2;

/** @returns a time in ms of an origin of its own, which never runs slower than either of the clock's two */
export function longestTime(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  let gainedMs = 0;
  let before = clock.now() - clock.monotonic();
  return () => {
    const monotonic = clock.monotonic();
    const offsetMs = clock.now() - monotonic;
    const gainMs = offsetMs - before;
    if (gainMs > 0) gainedMs += gainMs;
    if (gainMs > 0 || gainMs < -roundingMs) before = offsetMs;
    return monotonic + gainedMs;
  };
}
