// How long a operation waits after a failure. The count is kept in status, so that a restart does not reset it.
// wait = max(Retry-After, floor, min(exponential, a quarter of the link's remaining life)), and never more than
// five minutes once the link is dead. Whole seconds, rounded up: a retry is never early.

import { readInstant } from '../staticexport/instant.ts';
import type { Failure } from '../staticexport/status-schema.ts';
import { clockToleranceMs } from './link-timing.ts';

export const deadLinkMaxWaitMs = 5 * 60_000;
/** What a `Retry-After` may ask for at most. */
export const longestRetryAfterMs = 24 * 3_600_000;

const operations = {
  export: { firstMs: 60_000, capMs: 3_600_000 },
  poll: { firstMs: 5000, capMs: 300_000 },
  link: { firstMs: 15_000, capMs: 1_800_000 },
  target: { firstMs: 30_000, capMs: 600_000 },
} as const;
export type Operation = keyof typeof operations;

/** @param count failures in a row, 1 for the first */
export function exponentialMs(operation: Operation, count: number): number {
  const { firstMs, capMs } = operations[operation];
  return Math.min(capMs, firstMs * 2 ** Math.min(30, Math.max(0, count - 1)));
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

/** @param remainingMs of the published link; zero or less once it is dead */
export function linkWaitMs(facts: {
  readonly count: number;
  readonly retryAfterMs: number | undefined;
  readonly minIntervalMs: number;
  readonly remainingMs: number;
}): number {
  const isDead = facts.remainingMs <= 0;
  const grown = exponentialMs('link', facts.count);
  const wait = Math.max(
    Math.min(facts.retryAfterMs ?? 0, longestRetryAfterMs),
    facts.minIntervalMs,
    isDead ? grown : Math.min(grown, facts.remainingMs / 4),
  );
  return wholeSeconds(isDead ? Math.min(wait, deadLinkMaxWaitMs) : wait);
}

/**
 * When a failed operation may be tried again, or `undefined` when it may now. A failure noted in the future says that
 * the clock was set back: it is forgotten.
 */
export function retryTime(failure: Failure | undefined, now: number): number | undefined {
  if (failure === undefined) return undefined;
  const at = readInstant(failure.lastFailureTime);
  const until = readInstant(failure.retryTime);
  if (at === undefined || until === undefined || at > now + clockToleranceMs) return undefined;
  return until > now ? until : undefined;
}

/** A wait that was set while the link lived ends at most five minutes after it died. */
export function boundByDeath(until: number, setAt: number, expiresAt: number): number {
  return Math.min(until, Math.max(setAt, expiresAt) + deadLinkMaxWaitMs);
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}
