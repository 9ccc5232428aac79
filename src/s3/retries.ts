// Attempts of one call to a bucket: how many, and how long between them. Refuses to wait as long as a service asks when
// that is longer than a caller would wait; the fault then carries the time.

import type { Clock } from '../runtime/clock.ts';
import { BucketFault } from './bucket-fault.ts';

const firstPauseMs = 500;
const longestPauseMs = 15_000;

export interface RetryOptions {
  readonly attempts: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly signal: AbortSignal;
}

/**
 * @param attempt may throw anything; only a temporary {@link BucketFault} leads to another attempt
 * @throws the last attempt's error, or the signal's reason
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { attempts, clock, signal }: RetryOptions,
): Promise<T> {
  for (let count = 1; ; count += 1) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof BucketFault) || !error.isTemporary || count >= attempts) throw error;
      const pauseMs = Math.max(firstPauseMs * 2 ** (count - 1), error.retryAfterMs ?? 0);
      if (pauseMs > longestPauseMs) throw error;
      await clock.after(pauseMs, signal);
    }
  }
}
