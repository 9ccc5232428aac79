// Where the wall clock stands against the one that only grows, for telling a clock that was set from one that is merely
// adjusted. Who looks keeps the place to measure from, and decides what counts as set. Refuses: forgetting what no
// adjustment explains; many small settings are as far off in sum as a large one.

import type { Clock } from './clock.ts';

export interface ClockPlace {
  /** Wall time minus monotonic time. */
  readonly offsetMs: number;
  /** Monotonic. */
  readonly at: number;
}

/** Kernels adjust by half a thousandth at most, and crystals err by less. */
const adjustedShare = 0.002;

export function placeOf(clock: Pick<Clock, 'now' | 'monotonic'>): ClockPlace {
  const at = clock.monotonic();
  return { offsetMs: clock.now() - at, at };
}

/** The place to measure from next: the one before, moved towards the present one by what an adjustment explains. */
export function followAdjustment(before: ClockPlace, now: ClockPlace): ClockPlace {
  const mostMs = Math.max(0, now.at - before.at) * adjustedShare;
  const movedMs = Math.min(mostMs, Math.max(-mostMs, now.offsetMs - before.offsetMs));
  return { offsetMs: before.offsetMs + movedMs, at: now.at };
}
