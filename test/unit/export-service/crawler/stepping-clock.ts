// A clock that stands still until code waits, and then jumps to the end of the wait. It records every wait. Deadlines fire
// when a wait passes them.

import type { Clock } from '#platform/runtime/clock.ts';

export interface SteppingClock extends Clock {
  /** Every positive wait asked for, in order. */
  readonly waits: readonly number[];
}

export function steppingClock(start = Date.parse('2026-01-01T00:00:00Z')): SteppingClock {
  let elapsed = 0;
  const waits: number[] = [];
  const deadlines: { readonly at: number; readonly controller: AbortController }[] = [];
  return {
    waits,
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after: async (ms, signal) => {
      signal?.throwIfAborted();
      if (ms > 0) {
        waits.push(ms);
        elapsed += ms;
        for (const { at, controller } of deadlines) {
          if (at <= elapsed) controller.abort(new DOMException('deadline', 'TimeoutError'));
        }
      }
      signal?.throwIfAborted();
    },
    deadline: (ms, parent) => {
      const controller = new AbortController();
      deadlines.push({ at: elapsed + ms, controller });
      return parent === undefined ? controller.signal : AbortSignal.any([controller.signal, parent]);
    },
  };
}
