// The wall clock against the one that only grows. Where they part, the clock was set, or the machine slept and its
// timers with it; what is due by the wall clock is then not what the timers say. Decides nothing about resources.
// Invariant: a clock that is merely adjusted, some thousandths faster or slower, is not one that was set.

import type { Clock } from '../runtime/clock.ts';

const lookEveryMs = 10_000;
const toleranceMs = 2_000;

/** Runs until the signal aborts; never rejects. @param tell by how much the wall clock is ahead of where it was */
export async function watchClockSteps(
  clock: Clock,
  tell: (stepMs: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const offset = (): number => clock.now() - clock.monotonic();
  let before = offset();
  const hasWaited = (): Promise<boolean> =>
    clock.after(lookEveryMs, signal).then(
      () => true,
      () => false,
    );
  while (await hasWaited()) {
    const now = offset();
    const stepMs = now - before;
    before = now;
    if (Math.abs(stepMs) > toleranceMs) tell(stepMs);
  }
}
