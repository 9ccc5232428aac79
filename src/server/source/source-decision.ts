// Decides what to do from what is published, what is served and how the last attempt ended. A pure function of data and
// time; source-watch.ts acts. The version decides *whether* to download, the link only *where from*: content that is
// served already is never downloaded again, whatever its link.
// Refuses to judge a link by the local clock. Only a failed download says that a link has expired.

import type { BundleErrorKind } from '#bundle/bundle-error.ts';
import type { ServedBundle } from '#bundle/published-bundle.ts';
import { backOffMs } from '#platform/wire/back-off.ts';
import type { Link } from '#platform/wire/link.ts';
import type { FailureDetails } from '#platform/wire/publishable-error.ts';
import type { PublishedName } from '../content/live-site.ts';

export type SourceReading =
  | { readonly kind: 'published'; readonly published: ServedBundle }
  /** No bundle.json (yet). */
  | { readonly kind: 'absent' }
  /** bundle.json is not valid. */
  | { readonly kind: 'unreadable'; readonly code: string; readonly message: string };

/** Content by its names; either may be missing. */
export interface ContentName {
  readonly digest: string;
  readonly version: string | undefined;
  readonly basePath?: string | undefined;
}

/** Why an attempt failed: as the error says, because the store is full, which no link can change, or without the file of a link. */
export type SourceFailureKind = BundleErrorKind | 'no-room' | 'no-file';

/** How the last attempt for one content failed. Dropped when the content is obtained, or other content is published. */
export interface FailedAttempt {
  readonly identity: string;
  /** `undefined`: content of a mirror alone. */
  readonly link: Link | undefined;
  readonly kind: SourceFailureKind;
  /** Consecutive failed attempts for this content. */
  readonly count: number;
  /** Links on which this content was rejected. */
  readonly refusals: number;
  /** Monotonic ms. */
  readonly failedAt: number;
  /** After `failedAt`, before the next attempt with the same link. */
  readonly waitMs: number;
  /** What must be free for `no-room`, as far as the disk says it. */
  readonly neededBytes?: number | undefined;
}

export interface SourceInput {
  readonly reading: SourceReading;
  /** What is being served. */
  readonly active: ContentName | undefined;
  /** What could be served from disk: the last good bundle, known only while nothing is active. */
  readonly lastGood: ContentName | undefined;
  /** The link whose content is active, for content that has no name at all. */
  readonly settledLink: Link | undefined;
  readonly failed: FailedAttempt | undefined;
  /** Free on the store's disk; known only after `no-room`. */
  readonly freeBytes?: number | undefined;
  /** Monotonic ms: a wall clock that is set back must not lengthen a wait. */
  readonly monotonicMs: number;
}

export type SourceDecision =
  /** Nothing until the next check. */
  | { readonly action: 'rest'; readonly because: RestReason }
  /** Nothing for that long, unless other content is published. */
  | { readonly action: 'wait'; readonly because: WaitReason; readonly waitMs: number }
  /** The wanted content is served already, under another name. */
  | { readonly action: 'relabel'; readonly name: PublishedName }
  /** Obtain the published content from the list of sources, and serve it. */
  | { readonly action: 'obtain'; readonly published: ServedBundle }
  /** Serve the last good bundle, because the published one cannot be obtained now. */
  | { readonly action: 'serve-last-good' };

export type RestReason = 'in-sync' | 'waiting-for-bundle-json' | 'invalid-bundle-json';
export type WaitReason =
  | 'waiting-for-link'
  | 'link-not-yet-valid'
  | 'link-refused'
  | 'store-full'
  | 'backing-off'
  | 'rejected';

/** Refused content is retried at once on a new link, because it may be another archive, this often in all. */
export const maxRefusals = 3;
/** While a bundle is served, the wait before retrying a rejected archive is this many times longer. */
export const servedRefusalFactor = 36;

export function decideSource(input: SourceInput): SourceDecision {
  const { reading, active, lastGood } = input;
  if (reading.kind !== 'published') {
    if (active === undefined && lastGood !== undefined) return { action: 'serve-last-good' };
    return {
      action: 'rest',
      because: reading.kind === 'absent' ? 'waiting-for-bundle-json' : 'invalid-bundle-json',
    };
  }
  const { published } = reading;
  if (active !== undefined && isContent(published, active, input.settledLink)) {
    // A publication without a version leaves the one that the content has.
    const { version = active.version, basePath } = published;
    return active.version === version && active.basePath === basePath
      ? { action: 'rest', because: 'in-sync' }
      : { action: 'relabel', name: { version, basePath } };
  }
  if (active === undefined && lastGood !== undefined) {
    const isOnDisk = isContent(published, lastGood, undefined);
    // A link without version and digest: the stored bundle may be its content until the link has been read.
    if (isOnDisk || !isNamed(published) || sourceFailureOf(input.failed, published) !== undefined) {
      return { action: 'serve-last-good' };
    }
  }
  return decideRetry(input, published);
}

function isNamed({ digest, version }: ServedBundle): boolean {
  return digest !== undefined || version !== undefined;
}

/** Whether both name the same content; links are compared only where there is no version and digest. */
export function isSameContent(one: ServedBundle, other: ServedBundle): boolean {
  return identityOf(one) === identityOf(other) && (isNamed(one) || isSameLink(one.link, other.link));
}

/** Whether the failure is about this publication. */
function isAbout(failed: FailedAttempt, published: ServedBundle): boolean {
  return (
    failed.identity === identityOf(published) &&
    (isNamed(published) || isSameLink(published.link, failed.link))
  );
}

/** The names of the content in one text, without the link and its times. */
export function identityOf(published: Omit<ServedBundle, 'link'> | undefined): string {
  if (published === undefined) return 'nothing';
  const { version, digest, jobId } = published;
  return JSON.stringify([version, digest, jobId]);
}

function isSameLink(one: Link | undefined, other: Link | undefined): boolean {
  return one === undefined ? other === undefined : one.isSame(other);
}

function isContent(published: ServedBundle, content: ContentName, settledLink: Link | undefined): boolean {
  if (published.digest !== undefined) return published.digest === content.digest;
  if (published.version !== undefined) return published.version === content.version;
  return isSameLink(published.link, settledLink);
}

/** @returns the failure, if it is one of this content */
export function sourceFailureOf(
  failed: FailedAttempt | undefined,
  published: ServedBundle,
): FailedAttempt | undefined {
  return failed !== undefined && isAbout(failed, published) ? failed : undefined;
}

function decideRetry(input: SourceInput, published: ServedBundle): SourceDecision {
  const failed = sourceFailureOf(input.failed, published);
  const obtain: SourceDecision = { action: 'obtain', published };
  if (failed === undefined) return obtain;
  const isRejected = failed.kind === 'rejected';
  const isFreshLink = !isSameLink(published.link, failed.link);
  // Without version and digest the link identifies the content: a new one never gets here.
  const isLinkIrrelevant = failed.kind === 'no-room' || (isRejected && failed.refusals >= maxRefusals);
  if (isFreshLink && !isLinkIrrelevant) return obtain;
  const factor = isRejected && input.active !== undefined ? servedRefusalFactor : 1;
  const isRoomBack = (input.freeBytes ?? 0) >= (failed.neededBytes ?? Number.POSITIVE_INFINITY);
  const retryMs = isRoomBack ? failedRetryMs(failed.count) : failed.waitMs * factor;
  const waitMs = failed.failedAt + retryMs - input.monotonicMs;
  return waitMs <= 0 ? obtain : { action: 'wait', because: waitReasons[failed.kind], waitMs };
}

const waitReasons = {
  'expired-link': 'waiting-for-link',
  'early-link': 'link-not-yet-valid',
  'refused-link': 'link-refused',
  transient: 'backing-off',
  'no-room': 'store-full',
  'no-file': 'backing-off',
  rejected: 'rejected',
} as const;

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;
/** A new link is expected. */
const expiredLinkRetryMs = 5 * 60_000;
/** A storage may be repaired, and until then nothing may be served. */
const refusedRetryMs = 10 * 60_000;
/** Where the disk does not say whether there is room: each attempt may download the whole archive. */
const noRoomRetryMs = 20 * 60_000;

const failedRetryMs = (count: number): number => backOffMs([firstRetryMs, longestRetryMs], count);

/**
 * What is remembered of a failed attempt.
 *
 * @param before the failure remembered so far
 * @param monotonicMs when it failed
 * @param fraction in [0, 1), spreads the retries of replicas
 */
export function noteSourceFailure(
  before: FailedAttempt | undefined,
  published: ServedBundle,
  kind: SourceFailureKind,
  monotonicMs: number,
  fraction: number,
  { retryAfterMs = 0, neededBytes }: Pick<FailureDetails, 'retryAfterMs' | 'neededBytes'> = {},
): FailedAttempt {
  const same = before !== undefined && isAbout(before, published) ? before : undefined;
  const count = (same?.count ?? 0) + 1;
  const waits = {
    'expired-link': expiredLinkRetryMs,
    transient: failedRetryMs(count),
    // A person may repair the storage's policy at any time, and an answer of 403 costs little.
    'refused-link': failedRetryMs(count),
    'early-link': 0,
    rejected: refusedRetryMs,
    'no-room': noRoomRetryMs,
    // Its caller says how often a file is checked.
    'no-file': 0,
  };
  return {
    identity: identityOf(published),
    link: published.link,
    kind,
    count,
    refusals: (same?.refusals ?? 0) + (kind === 'rejected' ? 1 : 0),
    failedAt: monotonicMs,
    waitMs: Math.round(waits[kind] * (0.75 + fraction / 2)) + retryAfterMs,
    neededBytes,
  };
}
