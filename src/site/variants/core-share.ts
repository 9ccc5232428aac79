// A share of one core for long work: in slices shorter than anybody notices, each followed by a rest that is as long as
// the share demands. Invariant: over any while, the work takes no more than its share.

import type { Clock } from '../../runtime/clock.ts';

/** Short enough for a CPU quota's period. */
const sliceMs = 20;

/** To be awaited after each piece of the work. */
export type Rest = () => Promise<void>;

/** @param cpuPercent of one core, 1 to 100 */
export function shareOfCore(cpuPercent: number, clock: Clock): Rest {
  let sliceStart = clock.monotonic();
  return async () => {
    const busyMs = clock.monotonic() - sliceStart;
    if (busyMs < sliceMs) return;
    await clock.after((busyMs * (100 - cpuPercent)) / cpuPercent);
    sliceStart = clock.monotonic();
  };
}
