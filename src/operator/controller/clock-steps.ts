// Compares the wall clock with the monotonic clock. Where they diverge, the clock was set or the machine slept, and timers
// no longer match what is due by the wall clock. Decides nothing about resources.
// Invariants: a clock that is adjusted by a thousandth is not one that was set; small steps add up; a clock that never
// settles is reported a bounded number of times.

import { type Clock, hasWaited } from '#platform/runtime/clock.ts';
import { followAdjustment, readClocks } from '#platform/runtime/clock-reading.ts';

const checkEveryMs = 10_000;
const toleranceMs = 2_000;
/** Reports without a pause, then one every few minutes: each report reconciles every resource. */
const reportsAtOnce = 3;
const reportEveryMs = 5 * 60_000;

/** Runs until the signal aborts; never rejects. @param report receives by how much the wall clock is ahead of where it was */
export async function watchClockSteps(
  clock: Clock,
  report: (stepMs: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let reading = readClocks(clock);
  let checkedAt = reading.at;
  let reportsLeft = reportsAtOnce;
  while (await hasWaited(clock, checkEveryMs, signal)) {
    const now = readClocks(clock);
    reportsLeft = Math.min(reportsAtOnce, reportsLeft + (now.at - checkedAt) / reportEveryMs);
    checkedAt = now.at;
    const stepMs = now.offsetMs - reading.offsetMs;
    if (Math.abs(stepMs) <= toleranceMs) reading = followAdjustment(reading, now);
    else if (reportsLeft >= 1) {
      reportsLeft -= 1;
      reading = now;
      report(stepMs);
    }
  }
}
