// The rate limit that all resources with one key share. A refusal or a `Retry-After` for one resource holds for
// all. Kept in memory only. Each resource stores in its status what the export API answered to it.

import { rateLimitTime } from '#operator/reconcile/access.ts';
import type { RateLimit } from '#operator/reconcile/observation.ts';
import type { RateLimitChange } from '#operator/reconcile/result.ts';
import type { ProcessMemory } from '../memory.ts';

/** Applies a reconcile's result to the rate limit, and returns it as it is now. */
export function changeRateLimit(
  memory: ProcessMemory,
  id: string,
  change: RateLimitChange,
  now: number,
): RateLimit {
  const rateLimit = memory.rateLimits.get(id) ?? {
    closedUntil: undefined,
    closedAt: undefined,
    refused: undefined,
  };
  const next = changed(rateLimit, change, now);
  if (next !== rateLimit) memory.rateLimits.set(id, next);
  return next;
}

function changed(rateLimit: RateLimit, change: RateLimitChange, now: number): RateLimit {
  switch (change.kind) {
    case 'keep':
      return rateLimit;
    case 'open':
      return rateLimit.refused === undefined ? rateLimit : { ...rateLimit, refused: undefined };
    case 'refuse':
      return {
        ...rateLimit,
        refused: { secretVersion: change.secretVersion, reason: change.reason, at: now },
      };
    case 'close':
      // A time set while the clock ran ahead no longer holds, and must not get a new date.
      return {
        ...rateLimit,
        closedUntil: Math.max(change.until, rateLimitTime({ rateLimit, now }) ?? 0),
        closedAt: now,
      };
    default:
      return change satisfies never;
  }
}
