// A clock that a test moves by hand: a year passes in a second, and nothing waits for real. Timers fire in the
// order of their instants; between two of them everything that can run without time passing has run.
// Owns: virtual wall time (which may jump) and monotonic time (which may not).

import { nextTick } from 'node:process';
import type { Clock } from '#platform/runtime/clock.ts';

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

export interface VirtualClock extends Clock {
  /** Lets `ms` pass, firing what falls due on the way. */
  pass(ms: number): Promise<void>;
  /** Lets the time pass that a promise needs, and no more. */
  finish<T>(promise: Promise<T>): Promise<T>;
  /** The wall clock is set; what waits goes on waiting. */
  jump(ms: number): void;
  /** Until the first timer fires; infinite where there is none. */
  nextInMs(): number;
  /** Timers that have not fired. */
  waiting(): number;
}

export function virtualClock(startsAt = Date.UTC(2026, 0, 5, 12)): VirtualClock {
  let wallOffset = startsAt;
  let elapsed = 0;
  let timers: Timer[] = [];

  const add = (ms: number, fire: () => void): Timer => {
    const timer = { at: elapsed + Math.max(0, ms), fire };
    const index = timers.findIndex((one) => one.at > timer.at);
    timers.splice(index < 0 ? timers.length : index, 0, timer);
    return timer;
  };
  const drop = (timer: Timer): void => {
    timers = timers.filter((one) => one !== timer);
  };
  const fireNext = async (timer: Timer): Promise<void> => {
    drop(timer);
    elapsed = Math.max(elapsed, timer.at);
    timer.fire();
    await settle();
  };

  return {
    now: () => wallOffset + elapsed,
    monotonic: () => elapsed,
    jump: (ms) => {
      wallOffset += ms;
    },
    nextInMs: () => (timers[0] === undefined ? Number.POSITIVE_INFINITY : timers[0].at - elapsed),
    waiting: () => timers.length,
    after: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const abort = (): void => {
          drop(timer);
          reject(signal?.reason);
        };
        const timer = add(ms, () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        });
        signal?.addEventListener('abort', abort, { once: true });
      }),
    deadline: (ms, parent) => {
      const controller = new AbortController();
      const timer = add(ms, () => controller.abort(new DOMException('deadline', 'TimeoutError')));
      const abort = (): void => {
        drop(timer);
        controller.abort(parent?.reason);
      };
      if (parent?.aborted) abort();
      else parent?.addEventListener('abort', abort, { once: true });
      return controller.signal;
    },
    finish: async (promise) => {
      let isDone = false;
      const mark = (): void => {
        isDone = true;
      };
      promise.then(mark, mark);
      await settle();
      while (!isDone) {
        const [next] = timers;
        if (next === undefined) throw new Error('nothing left that could settle this promise');
        await fireNext(next);
      }
      return promise;
    },
    pass: async (ms) => {
      const end = elapsed + Math.max(0, ms);
      await settle();
      for (let [next] = timers; next !== undefined && next.at <= end; [next] = timers) await fireNext(next);
      elapsed = end;
    },
  };
}

/** Every microtask, and what they schedule, has run before the next tick; the event loop need not turn for it. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    nextTick(resolve);
  });
}
