// Measures the most time that can have passed. The monotonic clock stands still while a machine sleeps, and the wall
// clock can be set; a lease must never seem younger than it is. Adds the wall clock's gain to the monotonic clock.
// Invariant: setting the wall clock never makes the result less than the monotonic clock's.

import type { Clock } from '#platform/runtime/clock.ts';

/** Wall time comes in whole milliseconds, and what it seems to lose by rounding is not gained when it ticks. */
const roundingMs = 2;

/** @returns ms since some instant, which never run slower than either of the clock's two */
export function createElapsedTime(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
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
