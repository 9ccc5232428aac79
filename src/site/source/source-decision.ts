// Given what is published, what is served and how the last try went: what to do now. A pure function of data
// and time; the loop in source-watch.ts carries it out. The version decides *whether* to fetch, the link only
// *where from*: content that is already served is never fetched again, whatever link it comes with.
// Refuses: judging a link by a clock of ours. Only a failed fetch says that a link is dead.

import type { BundleErrorKind } from '../../bundle/bundle-error.ts';
import type { Link } from '../../wire/link.ts';

/** What the source says is to be served. */
export interface Published {
  /** `undefined` with a plain link that nobody named. */
  readonly version: string | undefined;
  /** SHA-256 hex; `undefined` when nobody inspected the archive. */
  readonly digest: string | undefined;
  readonly jobId: string | undefined;
  readonly link: Link;
  /** Epoch ms, for status only. */
  readonly issuedAt: number | undefined;
  /** Epoch ms, for status only. */
  readonly expiresAt: number | undefined;
}

export type SourceReading =
  | { readonly kind: 'published'; readonly published: Published }
  /** No document (yet). */
  | { readonly kind: 'absent' }
  /** There is a document, and it cannot be used. */
  | { readonly kind: 'unreadable'; readonly code: string; readonly message: string };

/** Content by its names; either may be missing. */
export interface ContentName {
  readonly digest: string;
  readonly version: string | undefined;
}

/** Why a try failed: as the error says, or because the store has no room, which no link can change. */
export type FailureKind = BundleErrorKind | 'no-room';

/** How the last try for one content went. Forgotten when the content is had, or another is wanted. */
export interface FailedAttempt {
  readonly identity: string;
  readonly link: Link;
  readonly kind: FailureKind;
  /** Tries for this content that failed one after another. */
  readonly count: number;
  /** Links on which this content was refused. */
  readonly refusals: number;
  /** Monotonic ms. */
  readonly failedAt: number;
  /** From then on, before the next try with the same link. */
  readonly waitMs: number;
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
  /** Monotonic ms: a wall clock that is set back must not lengthen a wait. */
  readonly monotonicMs: number;
}

export type SourceDecision =
  /** Nothing before the source is looked at again. */
  | { readonly action: 'rest'; readonly because: RestReason }
  /** Nothing for so long, unless the source says something else. */
  | { readonly action: 'wait'; readonly because: WaitReason; readonly waitMs: number }
  /** The wanted content is served already, under another name. */
  | { readonly action: 'relabel'; readonly version: string | undefined }
  /** Get the published content, from disk or by its link, and swap it in. */
  | { readonly action: 'obtain'; readonly published: Published }
  /** Serve the last good bundle, because the published one is not to be had now. */
  | { readonly action: 'serve-last-good' };

export type RestReason = 'in-sync' | 'no-document' | 'unreadable-document';
export type WaitReason = 'link-expired' | 'back-off' | 'refused';

/** A refused content is tried at once on a fresh link (it may have been packed anew), this often in all. */
export const maxRefusals = 3;
/** While something is served, a refused archive is tried this many times more seldom. */
export const servedRefusalFactor = 36;

export function decideSource(input: SourceInput): SourceDecision {
  const { reading, active, lastGood } = input;
  if (reading.kind !== 'published') {
    if (active === undefined && lastGood !== undefined) return { action: 'serve-last-good' };
    return { action: 'rest', because: reading.kind === 'absent' ? 'no-document' : 'unreadable-document' };
  }
  const { published } = reading;
  if (active !== undefined && isContent(published, active, input.settledLink)) {
    return active.version === published.version || published.version === undefined
      ? { action: 'rest', because: 'in-sync' }
      : { action: 'relabel', version: published.version };
  }
  if (active === undefined && lastGood !== undefined) {
    const isOnDisk = isContent(published, lastGood, undefined);
    // A link without any name: what is on disk is as good as anything until the link has been read.
    if (isOnDisk || !isNamed(published) || failureOf(input, published) !== undefined) {
      return { action: 'serve-last-good' };
    }
  }
  return decideRetry(input, published);
}

function isNamed({ digest, version }: Published): boolean {
  return digest !== undefined || version !== undefined;
}

/** Whether both name the same content; another link says otherwise only where there is no other name. */
export function isSameContent(one: Published, other: Published): boolean {
  return identityOf(one) === identityOf(other) && (isNamed(one) || one.link.isSame(other.link));
}

/** What a failure belongs to: another document is another matter. */
function isAbout(failed: FailedAttempt, published: Published): boolean {
  return (
    failed.identity === identityOf(published) && (isNamed(published) || published.link.isSame(failed.link))
  );
}

/** The names of the content in one text. */
export function identityOf({ version, digest, jobId }: Published): string {
  return JSON.stringify([version, digest, jobId]);
}

function isContent(published: Published, content: ContentName, settledLink: Link | undefined): boolean {
  if (published.digest !== undefined) return published.digest === content.digest;
  if (published.version !== undefined) return published.version === content.version;
  return published.link.isSame(settledLink);
}

function failureOf({ failed }: SourceInput, published: Published): FailedAttempt | undefined {
  return failed !== undefined && isAbout(failed, published) ? failed : undefined;
}

function decideRetry(input: SourceInput, published: Published): SourceDecision {
  const failed = failureOf(input, published);
  const obtain: SourceDecision = { action: 'obtain', published };
  if (failed === undefined) return obtain;
  const isRefused = failed.kind === 'refused';
  const isFreshLink = !published.link.isSame(failed.link);
  // A link without any name is its archive's only name: a fresh one never comes here.
  const isLinkOfNoHelp = failed.kind === 'no-room' || (isRefused && failed.refusals >= maxRefusals);
  if (isFreshLink && !isLinkOfNoHelp) return obtain;
  const factor = isRefused && input.active !== undefined ? servedRefusalFactor : 1;
  const waitMs = failed.failedAt + failed.waitMs * factor - input.monotonicMs;
  return waitMs <= 0 ? obtain : { action: 'wait', because: waitReasons[failed.kind], waitMs };
}

const waitReasons = {
  'dead-link': 'link-expired',
  transient: 'back-off',
  'no-room': 'back-off',
  refused: 'refused',
} as const;

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;
/** A fresh link is what is waited for; a refusal by the storage's policy may pass by itself. */
const expiredLinkRetryMs = 5 * 60_000;
/** A storage may be repaired, and until then nothing may be served. */
const refusedRetryMs = 10 * 60_000;
/** Somebody has to give the volume more room, and each try may fetch all of the archive. */
const noRoomRetryMs = 20 * 60_000;

/**
 * What is remembered of a failed try.
 *
 * @param before the failure remembered so far
 * @param monotonicMs when it failed
 * @param fraction in [0, 1), spreads the retries of replicas
 */
export function recordFailure(
  before: FailedAttempt | undefined,
  published: Published,
  kind: FailureKind,
  monotonicMs: number,
  fraction: number,
): FailedAttempt {
  const same = before !== undefined && isAbout(before, published) ? before : undefined;
  const count = (same?.count ?? 0) + 1;
  const waits = {
    'dead-link': expiredLinkRetryMs,
    transient: Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(count - 1, 16)),
    refused: refusedRetryMs,
    'no-room': noRoomRetryMs,
  };
  return {
    identity: identityOf(published),
    link: published.link,
    kind,
    count,
    refusals: (same?.refusals ?? 0) + (kind === 'refused' ? 1 : 0),
    failedAt: monotonicMs,
    waitMs: Math.round(waits[kind] * (0.75 + fraction / 2)),
  };
}
