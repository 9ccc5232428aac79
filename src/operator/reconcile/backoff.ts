// How long an operation waits after a failure. The count is in status, so that a restart does not reset it. wait =
// max(Retry-After, floor, min(exponential, a quarter of the link's remaining lifetime)), and at most five minutes
// once the link has expired. Whole seconds, rounded up: a retry is never early.

import type { Failure } from '#operator/staticexport/status-schema.ts';
import { backOffMs } from '#platform/wire/back-off.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { clockToleranceMs } from './link-timing.ts';

export const expiredMaxWaitMs = 5 * 60_000;
/** The longest `Retry-After` that is respected. */
export const longestRetryAfterMs = 24 * 3_600_000;

const operations = {
  export: { firstMs: 60_000, capMs: 3_600_000 },
  poll: { firstMs: 5000, capMs: 300_000 },
  link: { firstMs: 15_000, capMs: 1_800_000 },
  target: { firstMs: 30_000, capMs: 600_000 },
  mirror: { firstMs: 30_000, capMs: 600_000 },
} as const;
export type Operation = keyof typeof operations;

/** @param count failures in a row, 1 for the first */
export function exponentialMs(operation: Operation, count: number): number {
  const { firstMs, capMs } = operations[operation];
  return backOffMs([firstMs, capMs], Math.max(1, count));
}

/** @returns milliseconds; for the operations that do not concern a published link */
export function waitMs(
  operation: Exclude<Operation, 'link'>,
  count: number,
  retryAfterMs: number | undefined,
): number {
  return wholeSeconds(
    Math.max(Math.min(retryAfterMs ?? 0, longestRetryAfterMs), exponentialMs(operation, count)),
  );
}

/** @param remainingMs of the published link; zero or less once it has expired */
export function linkWaitMs(failure: {
  readonly count: number;
  readonly retryAfterMs: number | undefined;
  readonly minIntervalMs: number;
  readonly remainingMs: number;
}): number {
  const isExpired = failure.remainingMs <= 0;
  const grown = exponentialMs('link', failure.count);
  const wait = Math.max(
    Math.min(failure.retryAfterMs ?? 0, longestRetryAfterMs),
    failure.minIntervalMs,
    isExpired ? grown : Math.min(grown, failure.remainingMs / 4),
  );
  return wholeSeconds(isExpired ? Math.min(wait, expiredMaxWaitMs) : wait);
}

/**
 * When a failed operation may be retried, or `undefined` if it may be retried now. A failure in the future means
 * that the clock was set back, so it is ignored.
 */
export function retryTime(failure: Failure | undefined, now: number): number | undefined {
  if (failure === undefined) return undefined;
  const at = readInstant(failure.lastFailureTime);
  const until = readInstant(failure.retryTime);
  if (at === undefined || until === undefined || at > now + clockToleranceMs) return undefined;
  return until > now ? until : undefined;
}

/** A wait that was set while the link was valid ends at most five minutes after the link expires. */
export function boundByExpiry(until: number, setAt: number, expiresAt: number): number {
  return Math.min(until, Math.max(setAt, expiresAt) + expiredMaxWaitMs);
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}
