// What status remembers of a target, and what it becomes, as a function of what was found or done. Pure. Invariant: the
// last write (version, time, reverts) outlasts every failure, so that a client that reverts is recognised.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { waitMs } from '#operator/reconcile/backoff.ts';
import type { TargetReason } from '#operator/staticexport/reasons.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { WantedTarget } from '#operator/staticexport/wanted.ts';
import type { KeyChange, Rollout } from '#operator/targets/target-plan.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';

const contestedWindowMs = 10 * 60_000;
const contestedReverts = 3;
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

/** What a target should hold, for whom, and when that is asked. */
export interface TargetNeed {
  readonly owner: Pick<ObjectMeta, 'generation'>;
  readonly now: number;
  readonly published: PublishedBundle;
}

export interface TargetRecord {
  readonly before: TargetStatus | undefined;
  /** What the target waits for although a version is published. Its old value leads to another version. */
  readonly lack: TargetReason | undefined;
  /** True if the last write was of this version, and of this copy where the target has its reference. */
  readonly isOfPublished: boolean;
  /** True if the last write gave the target what is wanted now. */
  readonly holdsWish: boolean;
  /** True until a new version, copy or spec. */
  readonly isContested: boolean;
  /** Status has set a time for the next attempt, which has not come. */
  readonly isInBackOff: boolean;
  /** The reverts of the last ten minutes, with one that was found now; too many make the target contested. */
  readonly reverted: { readonly revertTimes: string[]; readonly isTooOften: boolean } | undefined;
  /** After one more failure. @param before the failures so far */
  backOff(before: number | undefined): Required<Pick<TargetStatus, 'failures' | 'retryTime'>>;
  /** For lack of something that comes by itself. */
  asLacking(reason: TargetReason): TargetStatus;
  /** The stored result for the same wanted values stays true until a plan says otherwise. */
  asWaiting(): TargetStatus;
  /** Waits for an edit by the object's owner. Every reconcile checks it; status stores it once. */
  asRefused(reason: TargetReason, detail: string): TargetStatus;
  /** The Kubernetes API server refused the write. The operator retries with a back-off. */
  asFailed(reason: TargetReason, detail: string): TargetStatus;
  /** The target holds the published version; its rollout decides whether it is synced. */
  asHeld(rollout: Rollout, write?: Partial<TargetStatus>): TargetStatus;
  /** Another client reverts what is written, so it is left alone. */
  asContested(write: Partial<TargetStatus>): TargetStatus;
  asDryRun(changes: readonly KeyChange[]): TargetStatus;
  /** The same target, as if it had never been written. */
  forgotten(): TargetRecord;
}

export function recordOf(
  target: WantedTarget,
  before: TargetStatus | undefined,
  need: TargetNeed,
): TargetRecord {
  const { owner, now, published } = need;
  const { version, ref, link } = published;
  const content = { version, ref: target.writesRef ? ref : undefined };
  const writesLink = target.type === 'Values' && target.writesLink;
  const linkIssueTime = writesLink && link !== undefined ? formatInstant(link.issuedAt) : undefined;
  const written = before?.version === content.version && before.ref === content.ref ? before : undefined;
  const holdsWish =
    written !== undefined && heldReasons.includes(written.reason) && written.linkIssueTime === linkIssueTime;
  const failures = before?.synced === false ? before.failures : undefined;
  const retryAt = before?.synced === false ? readInstant(before.retryTime) : undefined;
  const revertTimes = holdsWish ? revertsWith(written.revertTimes, now) : undefined;

  const asLacking: TargetRecord['asLacking'] = (reason) => unsynced(target, before, reason);
  const asRefused: TargetRecord['asRefused'] = (reason, detail) => ({
    ...asLacking(reason),
    message: printable(detail, longestTargetMessage),
  });
  const backOff: TargetRecord['backOff'] = (counts) => {
    const counted = Math.min(maxFailures, (counts ?? 0) + 1);
    return { failures: counted, retryTime: formatInstant(now + waitMs('target', counted, undefined)) };
  };
  return {
    before,
    lack:
      target.writesRef && ref === undefined
        ? 'AwaitingCopy'
        : // A version that was published by its copy alone has no link yet.
          writesLink && link === undefined
          ? 'AwaitingLink'
          : undefined,
    isOfPublished: written !== undefined,
    holdsWish,
    isContested: written?.reason === 'Contested' && written.contestedGeneration === owner.generation,
    isInBackOff: retryAt !== undefined && retryAt > now && retryAt <= now + contestedWindowMs,
    reverted: revertTimes && { revertTimes, isTooOften: revertTimes.length >= contestedReverts },
    ...{ backOff, asLacking, asRefused },
    asWaiting: () => (holdsWish ? written : { ...asLacking('Pending'), failures }),
    asFailed: (reason, detail) => ({ ...asRefused(reason, detail), ...backOff(failures) }),
    asHeld: (rollout, write) => ({
      ...nameOf(target),
      ...stateOf(rollout),
      ...(target.writesVersion && { heldVersion: version }),
      ...content,
      ...{ writeTime: written?.writeTime, linkIssueTime, revertTimes: written?.revertTimes },
      ...write,
    }),
    asContested: (write) => ({
      ...asLacking('Contested'),
      ...content,
      ...{ contestedGeneration: owner.generation, ...write },
    }),
    asDryRun: (changes) => ({
      ...asLacking('DryRun'),
      ...(changes.length === 0 && { message: 'Nothing would change.' }),
      changes: changes.map((change) => ({ ...change })),
    }),
    forgotten: () => recordOf(target, undefined, need),
  };
}

const nameOf = ({
  targetName,
  type,
  object,
}: WantedTarget): Pick<TargetStatus, 'name' | 'type' | 'object'> => ({ name: targetName, type, object });

/** Keeps what outlasts a failure: the last write, and the client that reverted it. */
export function unsynced(
  target: WantedTarget,
  before: TargetStatus | undefined,
  reason: TargetReason,
): TargetStatus {
  const { version, ref, writeTime, written, linkIssueTime, revertTimes } = before ?? {};
  const lastWrite = { version, ref, writeTime, written, linkIssueTime, revertTimes };
  return { ...lastWrite, ...nameOf(target), synced: false, reason };
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

/** This revert and those of the last ten minutes, at most as many as make the target contested. */
function revertsWith(before: readonly string[] | undefined, now: number): string[] {
  const recent = (before ?? []).filter((at) => (readInstant(at) ?? 0) > now - contestedWindowMs);
  return [...recent, formatInstant(now)].slice(-contestedReverts);
}

/** Dated by the last change of the reason, as a condition is. */
export function dated(target: TargetStatus, before: TargetStatus | undefined, now: number): TargetStatus {
  const isSame = before?.reason === target.reason && before.synced === target.synced;
  const lastTransitionTime = (isSame ? before.lastTransitionTime : undefined) ?? formatInstant(now);
  return { ...target, lastTransitionTime };
}
