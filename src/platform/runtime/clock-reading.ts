// How far the wall clock is ahead of the monotonic clock. This tells a clock that was set from one that is only
// adjusted. The caller keeps the reference point and decides what counts as set. Refuses to forget a difference that no
// adjustment explains, because many small steps add up to a large one.

import type { Clock } from './clock.ts';

export interface ClockReading {
  /** Wall time minus monotonic time. */
  readonly offsetMs: number;
  /** Monotonic. */
  readonly at: number;
}

/** Kernels adjust by half a thousandth at most, and crystals err by less. */
const adjustedShare = 0.002;

export function readClocks(clock: Pick<Clock, 'now' | 'monotonic'>): ClockReading {
  const at = clock.monotonic();
  return { offsetMs: clock.now() - at, at };
}

/** The place to measure from next: the one before, moved towards the present one by what an adjustment explains. */
export function followAdjustment(before: ClockReading, now: ClockReading): ClockReading {
  const mostMs = Math.max(0, now.at - before.at) * adjustedShare;
  const movedMs = Math.min(mostMs, Math.max(-mostMs, now.offsetMs - before.offsetMs));
  return { offsetMs: before.offsetMs + movedMs, at: now.at };
}
