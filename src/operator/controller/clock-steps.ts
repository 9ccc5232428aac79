// The wall clock against the one that only grows. Where they part, the clock was set or runs wrong, or the machine
// slept and its timers with it; what is due by the wall clock is then not what the timers say. Decides nothing about
// resources. Invariants: a clock that is merely adjusted, a thousandth faster or slower, is not one that was set; small
// steps count in sum; one that never comes to rest is told of a bounded number of times.

import type { Clock } from '../../runtime/clock.ts';
import { followAdjustment, placeOf } from '../../runtime/clock-place.ts';

const lookEveryMs = 10_000;
const toleranceMs = 2_000;
/** Told at once so often, then once in a while: each telling has every resource looked at. */
const toldAtOnce = 3;
const tellEveryMs = 5 * 60_000;

/** Runs until the signal aborts; never rejects. @param tell by how much the wall clock is ahead of where it was */
export async function watchClockSteps(
  clock: Clock,
  tell: (stepMs: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let place = placeOf(clock);
  let lookedAt = place.at;
  let tellings = toldAtOnce;
  const hasWaited = (): Promise<boolean> =>
    clock.after(lookEveryMs, signal).then(
      () => true,
      () => false,
    );
  while (await hasWaited()) {
    const now = placeOf(clock);
    tellings = Math.min(toldAtOnce, tellings + (now.at - lookedAt) / tellEveryMs);
    lookedAt = now.at;
    const stepMs = now.offsetMs - place.offsetMs;
    if (Math.abs(stepMs) <= toleranceMs) place = followAdjustment(place, now);
    else if (tellings >= 1) {
      tellings -= 1;
      place = now;
      tell(stepMs);
    }
  }
}
