// The clock of a link: how long it really lives, when it is replaced, and whether a new one is worth writing.
// All in this machine's time: a life is measured on the API's clock and laid on ours from the moment of asking,
// so that a wrong clock on either side costs nothing. Invariant: jitter is earlier, never later.

import { wholeSecond } from '../staticexport/instant.ts';
import { spreadOf } from './spread.ts';

export interface LinkClock {
  /** Epoch ms, whole seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A link whose life nobody states is given this one. */
export const assumedLifetimeMs = 15 * 60_000;
/** Longer lives are claims that nobody should rely on. */
const longestLifetimeMs = 400 * 24 * 3_600_000;
const jitterShare = 0.05;
const fresherShare = 0.05;
/** Clocks of two operators may differ this much before "issued in the future" means that ours was set back. */
export const clockToleranceMs = 5000;

/**
 * lifetime = min(claimed expiry, the signature's own) − the response's Date.
 *
 * @param sentAt our clock when the link was asked for
 */
export function clockOf(issue: {
  readonly sentAt: number;
  readonly serverDate: number | undefined;
  readonly claimedExpiresAt: number | undefined;
  readonly signed: { readonly signedAt: number | undefined; readonly expiresAt: number } | undefined;
}): LinkClock {
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

/** When the link is replaced: at its share of life, up to 5 % of the life earlier, but never before the floor. */
export function refreshTime(uid: string, clock: LinkClock, rule: RefreshRule): number {
  const lifetimeMs = clock.expiresAt - clock.issuedAt;
  const ageMs = (lifetimeMs * rule.refreshAtPercent) / 100;
  const earlierMs = lifetimeMs * jitterShare * spreadOf(uid, clock.issuedAt, 'refresh');
  return wholeSecond(clock.issuedAt + Math.max(rule.minIntervalMs, ageMs - earlierMs));
}

/** The floor between two links is so high that a link dies, or nearly, before it may be replaced. */
export function isLifetimeTooShort(clock: LinkClock, rule: RefreshRule): boolean {
  return rule.minIntervalMs > ((clock.expiresAt - clock.issuedAt) * rule.refreshAtPercent) / 100;
}

/** How long past its refresh time a link may be before that is worth a condition. */
export function graceMs(clock: LinkClock): number {
  return Math.min(10 * 60_000, (clock.expiresAt - clock.issuedAt) * 0.1);
}

/** Whether a new link outlives the published one by enough to be worth writing. */
export function isFresher(issued: LinkClock, published: LinkClock, now: number): boolean {
  if (isFromTheFuture(published, now)) return true;
  return issued.expiresAt - published.expiresAt >= (issued.expiresAt - issued.issuedAt) * fresherShare;
}

/** Our clock was set back since: nothing it said then can be compared with now. */
export function isFromTheFuture(clock: LinkClock, now: number): boolean {
  return clock.issuedAt > now + clockToleranceMs;
}

/**
 * After a link that was not fresher: half the remaining life, and at last just after expiry. A try so close before
 * expiry that the floor would delay the last one is left out.
 */
export function retryAfterStale(published: LinkClock, now: number, minIntervalMs: number): number {
  const remainingMs = published.expiresAt - now;
  const halfway = now + Math.max(minIntervalMs, remainingMs / 2);
  if (halfway + minIntervalMs < published.expiresAt) return wholeSecond(halfway);
  return wholeSecond(Math.max(published.expiresAt + 1000, now + minIntervalMs));
}
