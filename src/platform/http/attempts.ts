// How often a call is repeated, and how long between. Refuses to wait longer than a caller would: a service that asks for
// more is left to the caller's next call, and the error carries the time.

import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export interface Attempts {
  /** The first included. */
  readonly most: number;
  /** Doubled after each further failure. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/**
 * @param failed attempts so far
 * @param retryAfterMs of the answer: the other side must not be called before
 * @returns `undefined` where no attempt may follow
 */
export function nextPauseMs(
  { most, firstPauseMs, longestPauseMs }: Attempts,
  failed: number,
  retryAfterMs = 0,
): number | undefined {
  const pauseMs = Math.max(firstPauseMs * 2 ** (failed - 1), retryAfterMs);
  return failed >= most || pauseMs > longestPauseMs ? undefined : pauseMs;
}

/** Resolves when the next attempt may begin. @throws the failure where none may follow; the signal's reason */
export async function pauseAfter(
  failure: unknown,
  failed: number,
  attempts: Attempts,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const isTemporary = failure instanceof PublishableError && failure.isTemporary;
  const pauseMs = isTemporary ? nextPauseMs(attempts, failed, failure.retryAfterMs) : undefined;
  if (pauseMs === undefined) throw failure;
  await clock.after(pauseMs, signal);
}

/** Repeats work that fails with a temporary error. @throws the last failure; the signal's reason */
export async function withAttempts<T>(
  work: () => Promise<T>,
  attempts: Attempts,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<T> {
  for (let failed = 1; ; failed += 1) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      await pauseAfter(error, failed, attempts, clock, signal);
    }
  }
}
