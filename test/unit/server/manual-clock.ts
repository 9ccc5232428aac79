// A clock that a test moves by hand. Waits end when time has passed them, in order.

import type { Clock } from '#platform/runtime/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time and lets everything that waited for it run. */
  pass(ms: number): Promise<void>;
  /** Sets the wall clock forward, or back; the monotonic one goes on. */
  setWall(byMs: number): void;
}

/** Lets all that is ready run: a turn of the event loop ends only after every promise that could go on did. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function manualClock(start: number): ManualClock {
  let now = start;
  let wallMs = 0;
  const waiting = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => now + wallMs,
    setWall: (byMs) => {
      wallMs += byMs;
    },
    monotonic: () => now,
    deadline: () => new AbortController().signal,
    after: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const wait = { at: now + ms, wake: resolve };
        waiting.add(wait);
        signal?.addEventListener('abort', () => {
          waiting.delete(wait);
          reject(signal.reason);
        });
      }),
    pass: async (ms) => {
      const end = now + ms;
      for (;;) {
        await settle();
        const next = [...waiting].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        waiting.delete(next);
        now = Math.max(now, next.at);
        next.wake();
      }
      now = end;
      await settle();
    },
  };
}
