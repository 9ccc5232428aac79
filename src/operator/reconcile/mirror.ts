// The copy of the published bundle in the mirror: whether it is there, when it is looked at again, and what must be
// copied. Pure. Refuses: judging a mirror by its failures; only a look that found nothing means that a copy is lost.
// Invariant: a copy counts only at the place that the spec names now.

import type { Failure, HistoryEntry, Status } from '#operator/staticexport/status-schema.ts';
import type { WantedMirror } from '#operator/staticexport/wanted-mirror.ts';
import { recordedRevision, revisionOfSteps } from '#operator/staticexport/wanted-transform.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { retryTime } from './backoff.ts';
import { isFromTheFuture, isValidLongEnough } from './link-timing.ts';
import type { Observation } from './observation.ts';
import { spreadOf } from './spread.ts';
import type { MirrorState, Subject } from './state.ts';

/** A copy is looked at once a day, up to a tenth earlier. */
export const lookEveryMs = 24 * 3_600_000;
const jitterShare = 0.1;
/** Failures of a copy that belong to an export, in `failures.poll`. */
const failurePrefix = 'Mirror';

/** Names the place for which a failure holds. An edit of it is tried at once. */
export function mirrorPlaceName({ address, endpoint = '', secretName = '' }: WantedMirror): string {
  return `${address} ${endpoint} ${secretName}`.trim().slice(0, 512);
}

/** True if the reference names a copy at the place that the spec names. */
export function isInMirror(ref: string | undefined, mirror: WantedMirror | undefined): boolean {
  if (ref === undefined || mirror === undefined) return false;
  return ref.startsWith(`${mirror.address}@`) || ref.startsWith(`${mirror.address}/bundles/`);
}

/** True if the published version needs a link: the spec asks for one, or there is no copy yet. */
export function needsLink({ wanted, status: { active } }: Pick<Observation, 'wanted' | 'status'>): boolean {
  // The link of a version that steps made leads to another content.
  if (active?.repair !== undefined) return false;
  return wanted.publishesLink || active?.ref === undefined;
}

/** True if the archive must be copied before its version is published. */
export function needsCopy({ ref }: Subject, { wanted }: Pick<Observation, 'wanted'>): boolean {
  return wanted.mirror?.isRequired === true && !isInMirror(ref, wanted.mirror);
}

/**
 * True if the next attempt to publish the subject reads its copy: before any link, and again after each failed link.
 *
 * @param isOpen whether the export API may be called
 */
export function readsMirror(
  { cause, jobId, ref, digest }: Subject,
  { wanted, status }: Observation,
  isOpen: boolean,
): boolean {
  const isKnown = isInMirror(ref, wanted.mirror) && digest !== undefined;
  if (!isKnown || cause === 'job' || (cause === 'release' && wanted.publishesLink)) return false;
  const failure = status.failures?.poll;
  const hasFailed = failure?.subject === jobId && isMirrorFailure(failure.reason);
  return !(hasFailed && isOpen);
}

/** The reason in `failures.poll` for a code of the mirror. */
export const mirrorFailureReason = (code: string): string => `${failurePrefix}${code}`;
export const isMirrorFailure = (reason: string): boolean => reason.startsWith(failurePrefix);
export const mirrorCodeOf = (reason: string): string =>
  isMirrorFailure(reason) ? reason.slice(failurePrefix.length) : reason;

/** The failure of the mirror operation, while it concerns the place that the spec names. */
export function mirrorFailure({ status, wanted }: Observation): Failure | undefined {
  const failure = status.failures?.mirror;
  return wanted.mirror !== undefined && failure?.subject === mirrorPlaceName(wanted.mirror)
    ? failure
    : undefined;
}

/** Why old copies of the place that the spec names are still there. */
export function retentionFailure({ status, wanted }: Observation): Failure | undefined {
  const failure = status.failures?.retention;
  const isRetained = wanted.mirror?.unlistedMs !== undefined;
  return isRetained && failure?.subject === mirrorPlaceName(wanted.mirror) ? failure : undefined;
}

export function classifyMirror(observation: Observation): MirrorState {
  const { status, wanted, now, output, process } = observation;
  const { active } = status;
  if (wanted.mirror === undefined || active?.digest === undefined) return { kind: 'none' };
  // What is published is unknown, so nothing is written for it.
  if (output.kind === 'foreign' || output.kind === 'unreadable') return { kind: 'none' };
  const isCopied = hasCopy(observation);
  // A version without a copy is published again with its next link.
  if (!isCopied && needsLink(observation) && !isPublished(observation)) return { kind: 'none' };
  const until = retryTime(mirrorFailure(observation), now);
  if (process.mirror?.isRunning === true) return { kind: 'working', work: isCopied ? 'look' : 'copy' };
  if (isCopied) {
    // A lost output is written again after a look, without the export API.
    const lookAt = Math.max(isPublished(observation) ? lookTime(observation) : now, until ?? 0);
    return lookAt > now ? { kind: 'copied', lookAt } : { kind: 'due', work: 'look' };
  }
  if (wanted.isSuspended) return { kind: 'held' };
  if (isUnrepeatable(observation)) return { kind: 'none' };
  return until === undefined ? { kind: 'due', work: 'copy' } : { kind: 'waiting', until };
}

export const isPublished = ({ output }: Pick<Observation, 'output'>): boolean =>
  output.kind === 'ours' && output.published !== undefined;

/** True if the published version has a copy, as far as the last look knows. */
export function hasCopy({ status: { active }, wanted }: Observation): boolean {
  return isInMirror(active?.ref, wanted.mirror) && active?.copyLossTime === undefined;
}

/** True if this program may make another content of the archive than its digest names: it has other revisions of the steps. */
export function isOfOtherRules(
  made: Pick<Subject, 'repair' | 'repairRevision'>,
  { stepRevisions }: Pick<Observation, 'stepRevisions'>,
): boolean {
  const { repair } = made;
  return repair !== undefined && recordedRevision(made) !== revisionOfSteps(repair, stepRevisions);
}

/**
 * True if the published content is not in the mirror and other rules made it: its archive becomes the next version. A pinned
 * version stays the wanted one, and is copied if the rules happen to give it.
 */
export function isUnrepeatable(observation: Observation): boolean {
  const { status, wanted } = observation;
  const { active } = status;
  if (wanted.mirror === undefined || wanted.pin !== undefined || active?.digest === undefined) return false;
  return !hasCopy(observation) && isOfOtherRules(active, observation);
}

function lookTime({ status: { active }, uid, now }: Observation): number {
  const seenAt = readInstant(active?.mirrorCheckTime) ?? 0;
  // The clock was set back since.
  if (seenAt > now) return now;
  const earlierMs = lookEveryMs * jitterShare * spreadOf(uid, seenAt, 'mirror');
  return Math.ceil((seenAt + lookEveryMs - earlierMs) / 1000) * 1000;
}

/** Where the link for copying the published version again comes from. */
export function copyLink(observation: Observation): 'published' | 'issued' | 'issue' | 'none' {
  const { output, now, process } = observation;
  const published = output.kind === 'ours' ? output.published?.link : undefined;
  const usable = published !== undefined && !isFromTheFuture(published, now);
  if (usable && isValidLongEnough(published, now)) return 'published';
  // The link operation obtains the next link.
  if (needsLink(observation)) return 'none';
  const issued = process.mirror?.link;
  return issued !== undefined && isValidLongEnough(issued, now) ? 'issued' : 'issue';
}

/** Digests that retention never deletes. */
export function listedDigests({ active, history = [], candidate }: Status): readonly string[] {
  const all: readonly (Pick<HistoryEntry, 'digest'> | undefined)[] = [active, candidate, ...history];
  return [...new Set(all.flatMap((one) => one?.digest ?? []))];
}

/** Copies that have been unlisted for the time of the spec. */
export function expiredDigests({ status, wanted, now }: Observation): readonly string[] {
  const unlistedMs = wanted.mirror?.unlistedMs;
  if (unlistedMs === undefined || wanted.isSuspended) return [];
  const listed = listedDigests(status);
  return (status.unlistedCopies ?? []).flatMap(({ digest, firstSeenTime }) => {
    const seenAt = readInstant(firstSeenTime) ?? now;
    return seenAt + unlistedMs <= now && !listed.includes(digest) ? [digest] : [];
  });
}
