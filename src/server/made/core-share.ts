// The share of one core that a thread may take for what it makes. Owns the rests between its pieces of work. Refuses to stop a
// piece that is under way.

import type { Clock } from '#platform/runtime/clock.ts';

/** Short enough for a CPU quota's period. */
const sliceMs = 20;

/**
 * After each slice of work, a rest that is as long as the share demands. The function that comes back is to be awaited
 * after each piece of the work.
 *
 * @param cpuPercent of one core, 1 to 100
 */
export function shareOfCore(cpuPercent: number, clock: Clock): () => Promise<void> {
  let sliceStart = clock.monotonic();
  return async () => {
    const busyMs = clock.monotonic() - sliceStart;
    if (busyMs < sliceMs) return;
    await clock.after((busyMs * (100 - cpuPercent)) / cpuPercent);
    sliceStart = clock.monotonic();
  };
}
