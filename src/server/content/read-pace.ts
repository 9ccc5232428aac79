// Whether a small body may be read at once, while every other request waits: yes as long as the page cache has the
// packs, which takes tens of microseconds and spares a trip to another thread. Owns the doubt: reads that are slow half
// of the time, or one that is very slow, and for a while reads wait their turn elsewhere. A single slow one says more of
// a busy processor than of the disk. Invariant: a slow disk holds up others a few times in a rest, and rests grow.

import type { Clock } from '#platform/runtime/clock.ts';

export interface ReadPace {
  readonly isQuick: () => boolean;
  /** Does one read and remembers how long it took. @throws as `read` does */
  measure(read: () => void): void;
}

const slowMs = 2;
const verySlowMs = 50;
/** Of so many reads, half must be slow. */
const lookedAt = 8;
const firstRestMs = 10_000;
const longestRestMs = 10 * 60_000;

export function createReadPace({ monotonic }: Pick<Clock, 'monotonic'>): ReadPace {
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let restMs = firstRestMs;
  /** The latest reads, one bit each. */
  let slowBits = 0;
  return {
    isQuick: () => monotonic() >= restsUntilMs,
    measure: (read) => {
      const beganMs = monotonic();
      read();
      const endedMs = monotonic();
      const tookMs = endedMs - beganMs;
      slowBits = ((slowBits << 1) | (tookMs < slowMs ? 0 : 1)) & ((1 << lookedAt) - 1);
      if (tookMs < verySlowMs && countBits(slowBits) < lookedAt / 2) return;
      slowBits = 0;
      const isSlowAgain = beganMs - restsUntilMs < restMs;
      restMs = isSlowAgain ? Math.min(restMs * 2, longestRestMs) : firstRestMs;
      restsUntilMs = endedMs + restMs;
    },
  };
}

function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left > 0; left &= left - 1) count += 1;
  return count;
}
