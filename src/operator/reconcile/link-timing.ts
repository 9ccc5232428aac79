// The times of a link: how long it is really valid, when it is replaced, and whether a new link is worth writing.
// All times are on this machine's clock. The export API's clock measures the lifetime, which starts here when the
// link is requested; a wrong clock on either side costs nothing. Invariant: jitter is earlier, never later.

import { wholeSecond } from '#platform/wire/instant.ts';
import type { LinkTimes } from '#platform/wire/publication.ts';
import { spreadOf } from './spread.ts';

/** The assumed lifetime of a link that states none. */
export const assumedLifetimeMs = 15 * 60_000;
/** Longer lifetimes are not credible. */
const longestLifetimeMs = 400 * 24 * 3_600_000;
const jitterShare = 0.05;
const fresherShare = 0.05;
/** Clocks of two operators may differ this much before "issued in the future" means that this clock was set back. */
export const clockToleranceMs = 5000;

/**
 * lifetime = min(claimed expiry, the signature's own) − the response's Date.
 *
 * @param sentAt this machine's clock when the link was requested
 */
export function measureTimes(issue: {
  readonly sentAt: number;
  readonly serverDate: number | undefined;
  readonly claimedExpiresAt: number | undefined;
  readonly signed: { readonly signedAt: number | undefined; readonly expiresAt: number } | undefined;
}): LinkTimes {
  const issuedAt = wholeSecond(issue.sentAt);
  const ends = [issue.claimedExpiresAt, issue.signed?.expiresAt].filter((end) => end !== undefined);
  const start = issue.serverDate ?? issue.signed?.signedAt ?? issue.sentAt;
  const stated = ends.length === 0 ? assumedLifetimeMs : Math.min(...ends) - start;
  return { issuedAt, expiresAt: wholeSecond(issuedAt + Math.min(Math.max(0, stated), longestLifetimeMs)) };
}

export interface RefreshRule {
  readonly refreshAtPercent: number;
  readonly minIntervalMs: number;
}

/**
 * When the link is replaced: at its share of the lifetime, up to 5 % of the lifetime earlier, never before the
 * floor.
 */
export function refreshTime(uid: string, times: LinkTimes, rule: RefreshRule): number {
  const lifetimeMs = times.expiresAt - times.issuedAt;
  const ageMs = (lifetimeMs * rule.refreshAtPercent) / 100;
  const earlierMs = lifetimeMs * jitterShare * spreadOf(uid, times.issuedAt, 'refresh');
  return wholeSecond(times.issuedAt + Math.max(rule.minIntervalMs, ageMs - earlierMs));
}

/**
 * True if the minimum interval between two links is so long that a link expires, or nearly, before it may be
 * replaced.
 */
export function isLifetimeTooShort(times: LinkTimes, rule: RefreshRule): boolean {
  return rule.minIntervalMs > ((times.expiresAt - times.issuedAt) * rule.refreshAtPercent) / 100;
}

/** How far past its refresh time a link may be before a condition reports it. */
export function graceMs(times: LinkTimes): number {
  return Math.min(10 * 60_000, (times.expiresAt - times.issuedAt) * 0.1);
}

/** A candidate's link must be valid this much longer to be worth publishing. */
const minRemainingMs = 5000;

/**
 * True if one link is enough for inspection and publication. The code that issues it and the code that uses it call
 * this.
 */
export function isValidLongEnough({ expiresAt }: Pick<LinkTimes, 'expiresAt'>, now: number): boolean {
  return expiresAt > now + minRemainingMs;
}

/**
 * True if an inspection may begin with a link issued some time ago. A link from the future means a clock was set
 * back.
 */
export function isWorthInspecting(times: LinkTimes, now: number): boolean {
  return times.issuedAt <= now + minRemainingMs && isValidLongEnough(times, now);
}

/** True if a new link expires enough later than the published link to be worth writing. */
export function isFresher(issued: LinkTimes, published: LinkTimes, now: number): boolean {
  if (isFromTheFuture(published, now)) return true;
  return issued.expiresAt - published.expiresAt >= (issued.expiresAt - issued.issuedAt) * fresherShare;
}

/** True if this machine's clock was set back since. Its earlier times cannot be compared with now. */
export function isFromTheFuture(times: LinkTimes, now: number): boolean {
  return times.issuedAt > now + clockToleranceMs;
}

/**
 * The retry after a link that was not fresher: at half the remaining lifetime, and at last just after expiry. A
 * retry is skipped if the minimum interval after it would delay that last retry.
 */
export function retryAfterStale(published: LinkTimes, now: number, minIntervalMs: number): number {
  const remainingMs = published.expiresAt - now;
  const halfway = now + Math.max(minIntervalMs, remainingMs / 2);
  if (halfway + minIntervalMs < published.expiresAt) return wholeSecond(halfway);
  return wholeSecond(Math.max(published.expiresAt + 1000, now + minIntervalMs));
}
