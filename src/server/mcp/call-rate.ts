// How many calls agents may make together: a bucket that fills again with time. One for the server, because behind a proxy all clients
// have one address. Refuses nothing itself.

import type { Clock } from '#platform/runtime/clock.ts';

const minuteMs = 60_000;

/** Without `--mcp-rate`. */
export const defaultCallsPerMinute = 600;

export interface CallRate {
  /** Takes one call. @returns how long to wait, in ms; `undefined` where the call may proceed */
  take(): number | undefined;
  /** Counts calls that were made already; the next ones wait for them. */
  owe(calls: number): void;
}

/** @param perMinute calls in a minute; a sixth of them, and at least one, all at once */
export function createCallRate(clock: Pick<Clock, 'monotonic'>, perMinute = defaultCallsPerMinute): CallRate {
  const most = Math.max(1, perMinute / 6);
  let left = most;
  let at = clock.monotonic();
  return {
    take: () => {
      const now = clock.monotonic();
      left = Math.min(most, left + ((now - at) / minuteMs) * perMinute);
      at = now;
      if (left < 1) return Math.ceil(((1 - left) * minuteMs) / perMinute);
      left -= 1;
      return undefined;
    },
    owe: (calls) => {
      left -= calls;
    },
  };
}
