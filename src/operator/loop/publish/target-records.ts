// What status remembers of a target, as a function of what was found or done. Pure. Invariant: the record of the last
// write (version, time, reverts) outlasts every failure, so that a client that reverts is recognised.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { waitMs } from '#operator/reconcile/backoff.ts';
import type { TargetReason } from '#operator/staticexport/reasons.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { WantedTarget } from '#operator/staticexport/wanted.ts';
import type { Rollout } from '#operator/targets/target-plan.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';

export const contestedWindowMs = 10 * 60_000;
export const contestedReverts = 3;
/** Beyond this count the back-off does not grow, and the count says nothing more. */
const maxFailures = 6;
export const longestTargetMessage = 1024;

/** After these the target holds what was wanted, whether or not it is rolled out. */
const heldReasons: readonly string[] = [
  'Synced',
  'RollingOut',
  'AwaitingSync',
  'AwaitingMerge',
  'Paused',
  'RolloutFailed',
] satisfies readonly TargetReason[];

export const recordOf = ({
  targetName,
  type,
  object,
}: WantedTarget): Pick<TargetStatus, 'name' | 'type' | 'object'> => ({ name: targetName, type, object });

/** The fields of the record that outlast a failure: the last write, and the client that reverted it. */
export function lastWrite(
  before: TargetStatus | undefined,
): Pick<TargetStatus, 'version' | 'ref' | 'writeTime' | 'written' | 'linkIssueTime' | 'revertTimes'> {
  const { version, ref, writeTime, written, linkIssueTime, revertTimes } = before ?? {};
  return { version, ref, writeTime, written, linkIssueTime, revertTimes };
}

/** Waits for an edit by the object's owner. Every reconcile checks it; status stores it once. */
export function refused(
  target: WantedTarget,
  before: TargetStatus | undefined,
  reason: TargetReason,
  detail: string,
): TargetStatus {
  const message = printable(detail, longestTargetMessage);
  return { ...lastWrite(before), ...recordOf(target), synced: false, reason, message };
}

/** The stored result for the same wanted values stays true until a plan says otherwise. */
export function waiting(
  target: WantedTarget,
  before: TargetStatus | undefined,
  published: PublishedBundle,
): TargetStatus {
  const failures = before?.synced === false ? before.failures : undefined;
  if (holdsWish(target, before, published)) return before;
  return { ...lastWrite(before), ...recordOf(target), synced: false, reason: 'Pending', failures };
}

/** True if the last write gave the target what is wanted now. */
export function holdsWish(
  target: WantedTarget,
  before: TargetStatus | undefined,
  published: PublishedBundle,
): before is TargetStatus {
  return (
    isOfPublished(target, before, published) &&
    heldReasons.includes(before.reason) &&
    before.linkIssueTime === issueTimeOf(target, published)
  );
}

/** True if the last write was of this version, and of this copy where the target has its reference. */
export function isOfPublished(
  target: WantedTarget,
  before: TargetStatus | undefined,
  published: PublishedBundle,
): before is TargetStatus {
  const { version, ref } = contentOf(target, published);
  return before !== undefined && before.version === version && before.ref === ref;
}

/** What a write gives the target, as its record remembers it. */
export function contentOf(
  { writesRef }: WantedTarget,
  { version, ref }: PublishedBundle,
): Pick<TargetStatus, 'version' | 'ref'> {
  return { version, ref: writesRef ? ref : undefined };
}

export const writesLink = (target: WantedTarget): boolean => target.type === 'Values' && target.writesLink;

/** True until a new version, copy or spec. */
export function isContested(
  target: WantedTarget,
  before: TargetStatus,
  owner: ObjectMeta,
  published: PublishedBundle,
): boolean {
  const isSameSpec = before.contestedGeneration === owner.generation;
  return before.reason === 'Contested' && isSameSpec && isOfPublished(target, before, published);
}

export function issueTimeOf(target: WantedTarget, { link }: PublishedBundle): string | undefined {
  return writesLink(target) && link !== undefined ? formatInstant(link.issuedAt) : undefined;
}

/** The target holds the published version; its rollout decides whether it is synced. */
export function heldTarget(
  target: WantedTarget,
  published: PublishedBundle,
  rollout: Rollout,
  record: Pick<TargetStatus, 'writeTime' | 'revertTimes'>,
): TargetStatus {
  return {
    ...recordOf(target),
    ...stateOf(rollout),
    ...(target.writesVersion && { heldVersion: published.version }),
    ...contentOf(target, published),
    writeTime: record.writeTime,
    linkIssueTime: issueTimeOf(target, published),
    revertTimes: record.revertTimes,
  };
}

const rolloutReasons = {
  'in-progress': 'RollingOut',
  'awaiting-sync': 'AwaitingSync',
  'awaiting-merge': 'AwaitingMerge',
  paused: 'Paused',
  failed: 'RolloutFailed',
} as const satisfies Readonly<Record<string, TargetReason>>;

function stateOf(rollout: Rollout): Pick<TargetStatus, 'synced' | 'reason' | 'message'> {
  if (rollout.state === 'complete') return { synced: true, reason: 'Synced' };
  return { synced: false, reason: rolloutReasons[rollout.state], message: rollout.message };
}

/** The Kubernetes API server refused the write. The operator retries with a back-off. */
export function failedTarget(
  target: WantedTarget,
  before: TargetStatus | undefined,
  reason: TargetReason,
  detail: string,
  now: number,
): TargetStatus {
  const failures = before?.synced === false ? before.failures : undefined;
  return { ...refused(target, before, reason, detail), ...backOff(failures, now) };
}

/** After one more failure. @param before the failures so far */
export function backOff(
  before: number | undefined,
  now: number,
): Required<Pick<TargetStatus, 'failures' | 'retryTime'>> {
  const failures = Math.min(maxFailures, (before ?? 0) + 1);
  return { failures, retryTime: formatInstant(now + waitMs('target', failures, undefined)) };
}

/** This revert and those of the last ten minutes, at most as many as make the target contested. */
export function revertsWith(before: readonly string[] | undefined, now: number): string[] {
  const recent = (before ?? []).filter((at) => (readInstant(at) ?? 0) > now - contestedWindowMs);
  return [...recent, formatInstant(now)].slice(-contestedReverts);
}

/** Dated by the last change of the reason, as a condition is. */
export function dated(target: TargetStatus, before: TargetStatus | undefined, now: number): TargetStatus {
  const isSame = before?.reason === target.reason && before.synced === target.synced;
  const lastTransitionTime = (isSame ? before.lastTransitionTime : undefined) ?? formatInstant(now);
  return { ...target, lastTransitionTime };
}
