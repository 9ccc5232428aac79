// A clock that a test moves by hand: waits and deadlines end when time has passed them, in order, each with
// everything that follows from it before the next.

import type { Clock } from '#platform/runtime/clock.ts';

export interface SteppedClock extends Clock {
  /** Moves time and lets everything that waited for it run. */
  pass(ms: number): Promise<void>;
  /** Waits under way, deadlines not counted. */
  waiting(): number;
}

/** Lets all that is ready run: a turn of the event loop ends only after every promise that could go on did. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

interface Wait {
  readonly at: number;
  readonly wake: () => void;
}

export function steppedClock(start = Date.parse('2026-11-21T00:00:00Z')): SteppedClock {
  let now = start;
  const waits = new Set<Wait>();
  const deadlines = new Set<Wait>();
  const nextUntil = (end: number): Wait | undefined => {
    let next: Wait | undefined;
    for (const set of [waits, deadlines]) {
      for (const wait of set) if (wait.at <= end && (next === undefined || wait.at < next.at)) next = wait;
    }
    return next;
  };
  return {
    now: () => now,
    // Of another origin than the wall clock, so that mixing the two shows.
    monotonic: () => now - start + 1_000,
    deadline: (ms, parent) => {
      const controller = new AbortController();
      const wake = (): void => controller.abort(new DOMException('too late', 'TimeoutError'));
      deadlines.add({ at: now + ms, wake });
      return parent === undefined ? controller.signal : AbortSignal.any([controller.signal, parent]);
    },
    after: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const wait = { at: now + Math.max(0, ms), wake: resolve };
        waits.add(wait);
        signal?.addEventListener('abort', () => {
          waits.delete(wait);
          reject(signal.reason);
        });
      }),
    pass: async (ms) => {
      const end = now + ms;
      for (;;) {
        await settle();
        const next = nextUntil(end);
        if (next === undefined) break;
        waits.delete(next);
        deadlines.delete(next);
        now = Math.max(now, next.at);
        next.wake();
      }
      now = end;
      await settle();
    },
    waiting: () => waits.size,
  };
}
