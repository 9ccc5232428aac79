// Updates the remembered status after work on copies: a look at the published one, a new one, or a failure. Pure.
// Invariants: a failure changes no reference, and only a copy that was read back is published.

import { type Failure, maxUnlisted, type Status } from '#operator/staticexport/status-schema.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { LinkTimes, Publication } from '#platform/wire/publication.ts';
import type { PublishableFailure } from '#platform/wire/publishable-error.ts';
import { waitMs } from '../backoff.ts';
import { goneRetryMs } from '../failure-policy.ts';
import {
  isInMirror,
  isPublished,
  listedDigests,
  lookEveryMs,
  mirrorFailureReason,
  mirrorPlaceName,
} from '../mirror.ts';
import type { Observation } from '../observation.ts';
import type { ActionResult } from '../result.ts';

type Active = NonNullable<Status['active']>;

interface MirrorSettled {
  readonly status: Status;
  readonly publish: Publication | undefined;
}

/** The limit of the status schema. */
const maxMessageLength = 512;

/** The link to publish with a reference: none where the spec wants none, and none that leads to another content. */
export function linkBeside(
  { ref, repair }: Pick<Active, 'ref' | 'repair'>,
  link: LinkTimes | undefined,
  { wanted }: Pick<Observation, 'wanted'>,
): LinkTimes | undefined {
  if (repair !== undefined) return undefined;
  return wanted.publishesLink || !isInMirror(ref, wanted.mirror) ? link : undefined;
}

/** The active version of that job, which may be a newer one with the same content. */
export function republish(active: Active, jobId: string, link: LinkTimes | undefined): Publication {
  const { version, digest, pages, sizeBytes, ref } = active;
  return { version, digest, pages, sizeBytes, ref, ...makingOf(active), jobId, link };
}

/** How the content was made, without what is not known. */
export function makingOf({
  basePath,
  repair,
  repairRevision,
}: Pick<Active, 'basePath' | 'repair' | 'repairRevision'>): Pick<
  Publication,
  'basePath' | 'repair' | 'repairRevision'
> {
  return {
    ...(basePath !== undefined && { basePath }),
    ...(repair !== undefined && { repair }),
    ...(repairRevision !== undefined && { repairRevision }),
  };
}

/** The active version with a copy that was found or read back just now. */
export function withCopy(active: Active, ref: string, now: number): Active {
  return { ...active, ref, mirrorCheckTime: formatInstant(now), copyLossTime: undefined };
}

/** A look at the published copy. One that is gone is copied again from a link. */
export function settleLooked(
  observation: Observation,
  { isThere, unlisted, retentionFailure }: Extract<ActionResult, { kind: 'mirror-looked' }>,
): MirrorSettled {
  const { status, now } = observation;
  const { active } = status;
  if (active?.ref === undefined) return { status, publish: undefined };
  // A copy that could not be removed is still there, so an empty list is not one.
  const hasList = retentionFailure === undefined || unlisted?.length !== 0;
  const unlistedCopies = rememberUnlisted(observation, hasList ? unlisted : undefined);
  const retention = retentionFailure && settleRetention(observation, retentionFailure);
  const calm = { ...status, unlistedCopies, failures: { ...status.failures, mirror: undefined, retention } };
  if (!isThere) {
    return {
      status: { ...calm, active: { ...active, copyLossTime: formatInstant(now) } },
      publish: undefined,
    };
  }
  const seen = withCopy(active, active.ref, now);
  const publish = isPublished(observation) ? undefined : republish(seen, seen.jobId, undefined);
  return { status: { ...calm, active: seen }, publish };
}

/** Each digest keeps the time when it was first seen. The longest unlisted stay where there are too many. */
function rememberUnlisted(
  { status, wanted, now }: Observation,
  found: readonly string[] | undefined,
): Status['unlistedCopies'] {
  if (wanted.mirror?.unlistedMs === undefined) return undefined;
  const listed = listedDigests(status);
  const remembered = status.unlistedCopies ?? [];
  // A list that failed says nothing about any of them.
  const unlisted = found ?? remembered.map(({ digest }) => digest);
  const known = remembered.filter(({ digest }) => unlisted.includes(digest));
  const added = unlisted
    .filter((digest) => !listed.includes(digest) && !known.some((one) => one.digest === digest))
    .map((digest) => ({ digest, firstSeenTime: formatInstant(now) }));
  const all = [...known.filter(({ digest }) => !listed.includes(digest)), ...added].slice(0, maxUnlisted);
  return all.length === 0 ? undefined : all;
}

/** Old copies stay. The next check, within a day, is the next attempt. */
function settleRetention(observation: Observation, failure: PublishableFailure): Failure | undefined {
  const { status, wanted } = observation;
  if (wanted.mirror?.unlistedMs === undefined) return undefined;
  const subject = mirrorPlaceName(wanted.mirror);
  const before = status.failures?.retention;
  const count = (before?.subject === subject ? before.count : 0) + 1;
  return failureOf(observation, failure.code, failure, subject, count, lookEveryMs);
}

/** The published version was copied again, from its own link or from another one. */
export function settleCopied(
  observation: Observation,
  { ref, link }: Extract<ActionResult, { kind: 'mirror-copied' }>,
): MirrorSettled {
  const { status, now } = observation;
  const { active } = status;
  if (active === undefined) return { status, publish: undefined };
  const copied = withCopy(active, ref, now);
  return {
    status: { ...status, active: copied, failures: { ...status.failures, mirror: undefined } },
    publish: republish(copied, copied.jobId, linkBeside(copied, link, observation)),
  };
}

/** Work on the published copy failed. What is published stays. */
export function settleMirrorFailure(observation: Observation, failure: PublishableFailure): Status {
  const { status, wanted } = observation;
  if (wanted.mirror === undefined) return status;
  const subject = mirrorPlaceName(wanted.mirror);
  const before = status.failures?.mirror;
  const count = (before?.subject === subject ? before.count : 0) + 1;
  const isLasting = failure.code === 'ContentChanged' || failure.code === 'RulesChanged';
  const mirror = failureOf(observation, failure.code, failure, subject, count, isLasting ? goneRetryMs : 0);
  return { ...status, failures: { ...status.failures, mirror } };
}

/** A subject was not copied, or its copy not read. Says nothing about the archive. */
export function settleCopyFailure(
  observation: Observation,
  jobId: string,
  failure: PublishableFailure,
): Status {
  const { status } = observation;
  const before = status.failures?.poll;
  const same = before?.subject === jobId ? before : undefined;
  const reason = mirrorFailureReason(failure.code);
  const poll = failureOf(observation, reason, failure, jobId, (same?.count ?? 0) + 1, 0);
  return {
    ...status,
    failures: { ...status.failures, poll: { ...poll, inspectionFailures: same?.inspectionFailures } },
  };
}

function failureOf(
  { now }: Observation,
  reason: string,
  { message, retryAfterMs = 0 }: PublishableFailure,
  subject: string,
  count: number,
  leastMs: number,
): Failure {
  return {
    count,
    lastFailureTime: formatInstant(now),
    retryTime: formatInstant(now + waitMs('mirror', count, Math.max(retryAfterMs, leastMs))),
    reason: reason.slice(0, 64),
    message: printable(message, maxMessageLength),
    subject: subject.slice(0, maxMessageLength),
  };
}
