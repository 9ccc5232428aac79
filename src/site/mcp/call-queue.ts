// The calls of tools that one HTTP request holds: one after the other, and none that begins after the time of the request or for a caller
// who has left. Refuses to stop a call under way. Invariant: calls begin in the order in which they were asked.

import type { Clock } from '#platform/runtime/clock.ts';

/** Of one request. Shorter than what the site port waits, by the longest call. */
export const longestQueueMs = 8_000;

export interface CallQueue {
  /** @returns what the call gives; `late` or `left` without having begun it */
  take<Output>(work: () => Output | Promise<Output>): Promise<Output | 'late' | 'left'>;
  /** How many calls were asked for. */
  asked(): number;
}

/** @param signal of the caller */
export function createCallQueue(clock: Pick<Clock, 'monotonic'>, signal: AbortSignal): CallQueue {
  const until = clock.monotonic() + longestQueueMs;
  let before: Promise<unknown> = Promise.resolve();
  let asked = 0;
  const take: CallQueue['take'] = (work) => {
    asked += 1;
    const turn = before.then(() => {
      if (signal.aborted) return 'left';
      return clock.monotonic() >= until ? 'late' : work();
    });
    before = turn.catch(() => {});
    return turn;
  };
  return { take, asked: () => asked };
}
