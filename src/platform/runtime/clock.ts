// Time as a parameter. All code outside this folder that needs an instant, a wait or a deadline takes a Clock. A test
// can then run a year in a second. Only code here may use the platform's timers.

import { performance } from 'node:perf_hooks';
import { setImmediate as untilOthersRan } from 'node:timers/promises';

/** Node fires a timer above 2^31-1 ms at once; longer waits are made of pieces. */
const longestTimerMs = 2 ** 31 - 1;

export interface Clock {
  /** Wall clock, epoch milliseconds. May jump. For instants that are stored or compared with others'. */
  now(): number;
  /** Milliseconds that only ever grow. For measuring how long something took. */
  monotonic(): number;
  /** Resolves after `ms` (any size; negative is at once). Rejects with the signal's reason when aborted. */
  after(ms: number, signal?: AbortSignal): Promise<void>;
  /** A signal that aborts with a `TimeoutError` after `ms`, or earlier with the parent's reason. */
  deadline(ms: number, parent?: AbortSignal): AbortSignal;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: async (ms, signal) => {
    let left = ms;
    do {
      const piece = Math.min(Math.max(0, left), longestTimerMs);
      await sleep(piece, signal);
      left -= piece;
    } while (left > 0);
  },
  deadline: (ms, parent) => {
    const timeout = AbortSignal.timeout(Math.min(Math.max(0, Math.ceil(ms)), longestTimerMs));
    return parent === undefined ? timeout : AbortSignal.any([timeout, parent]);
  },
};

/**
 * Lets requests and messages that have arrived come first. For long work in slices: a wait of no milliseconds takes a
 * whole one, and a large site has dozens of slices.
 */
export async function othersTurn(): Promise<void> {
  await untilOthersRan();
}

/** @returns false where the signal aborted first */
export function hasWaited(clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal): Promise<boolean> {
  return clock.after(ms, signal).then(
    () => true,
    () => false,
  );
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
