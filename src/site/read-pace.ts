// Whether a small body may be read at once, while every other request waits: yes as long as the page cache has the
// packs, which takes tens of microseconds and spares a trip to another thread. Owns the doubt: one slow read, and for a
// while reads wait their turn elsewhere. Invariant: a slow disk holds up others once in a rest, and rests grow.

import type { Clock } from '../runtime/clock.ts';

export interface ReadPace {
  readonly isQuick: () => boolean;
  /** Does one read and remembers how long it took. @throws as `read` does */
  measure(read: () => void): void;
}

const slowMs = 5;
const firstRestMs = 10_000;
const longestRestMs = 10 * 60_000;

export function createReadPace({ monotonic }: Pick<Clock, 'monotonic'>): ReadPace {
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let restMs = firstRestMs;
  return {
    isQuick: () => monotonic() >= restsUntilMs,
    measure: (read) => {
      const beganMs = monotonic();
      read();
      const endedMs = monotonic();
      if (endedMs - beganMs < slowMs) return;
      const isSlowAgain = beganMs - restsUntilMs < restMs;
      restMs = isSlowAgain ? Math.min(restMs * 2, longestRestMs) : firstRestMs;
      restsUntilMs = endedMs + restMs;
    },
  };
}
