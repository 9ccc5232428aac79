// Targets: other owners' objects, which get the published version and, if the spec says so, the link. Each target has
// its own back-off, and all of them together delay the status by half a minute at most. Invariants: only an object that
// consents is changed, and a target follows the output Secret. After a client reverts three writes, the target is not
// written again.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import type { TargetReason } from '#operator/staticexport/reasons.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { WantedTarget } from '#operator/staticexport/wanted.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { readInstant } from '#platform/wire/instant.ts';
import type { TargetContext } from '../context.ts';
import { dropPlans, resourceId } from '../memory.ts';
import { findGitTarget } from './git-target.ts';
import { editTarget, type PlanningContext, planId } from './target-edit.ts';
import { requestPlans } from './target-plans.ts';
import {
  contestedWindowMs,
  dated,
  failedTarget,
  holdsWish,
  isContested,
  lastWrite,
  recordOf,
  waiting,
  writesLink,
} from './target-records.ts';

/** No further target is begun after this time. An admission webhook may hold each write for 15 s. */
const budgetMs = 15_000;
export interface TargetsInput {
  readonly owner: ObjectMeta;
  readonly now: number;
  readonly isSuspended: boolean;
  /** What the spec names, or what is published, is unreadable: everything stays as it was. */
  readonly isUnknown: boolean;
  /** The spec is new, or an export was requested: a person waits for the result, so back-off is ignored. */
  readonly isHurried: boolean;
  readonly published: PublishedBundle | undefined;
  readonly before: readonly TargetStatus[];
}

/**
 * Brings every target in sync, one after the other, until the time is used up. The next reconcile
 * follows at once and writes the others.
 *
 * @throws the signal's reason when aborted
 */
export async function writeTargets(
  targets: readonly WantedTarget[],
  input: TargetsInput,
  context: TargetContext,
  signal: AbortSignal,
): Promise<readonly TargetStatus[]> {
  // A plan that cannot be written now may be large, so it is dropped and made again.
  if (input.isUnknown || input.isSuspended) dropPlans(context.memory, resourceId(input.owner));
  if (input.isUnknown) return input.before;
  keepGitTargets(targets, input, context);
  const results = new Map<WantedTarget, TargetStatus>();
  const ids = targets.map(planId);
  const requests = requestPlans(input.owner, ids, context, signal);
  const startedAt = context.clock.monotonic();
  let isUnfinished = false;
  for (const target of inOrderOfNeed(targets, input)) {
    const isLate = context.clock.monotonic() - startedAt > budgetMs;
    const result = await writeTarget(target, { ...input, isLate }, { ...context, requests }, signal);
    results.set(target, dated(result, recordedOf(target, input), input.now));
    isUnfinished ||= isLate && result.reason === 'Pending';
  }
  if (isUnfinished) context.wake(input.owner);
  return targets.flatMap((target) => results.get(target) ?? []);
}

/** A suspended resource writes nothing, and neither does a target that waits. So their waiting pushes are withdrawn. */
function keepGitTargets(
  targets: readonly WantedTarget[],
  { owner, isSuspended, published }: TargetsInput,
  { git }: TargetContext,
): void {
  const kept = targets.filter(
    (target) => target.type === 'Git' && published !== undefined && lackOf(target, published) === undefined,
  );
  const ids = isSuspended ? [] : kept.map(planId);
  git.keep({ namespace: owner.namespace, name: owner.name }, ids);
}

/**
 * Targets that lack the published version, then those that wait for their owners, then those in sync. Otherwise slow
 * reads of the first targets would keep the last ones from their turn in every reconcile.
 */
function inOrderOfNeed(targets: readonly WantedTarget[], input: TargetsInput): readonly WantedTarget[] {
  const { published } = input;
  const rankOf = (target: WantedTarget): number => {
    const before = recordedOf(target, input);
    if (published !== undefined && holdsWish(target, before, published)) return 2;
    return before === undefined || before.synced || before.reason === 'Pending' ? 0 : 1;
  };
  return targets.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function recordedOf(
  { targetName, object }: WantedTarget,
  { before }: TargetsInput,
): TargetStatus | undefined {
  return before.find((one) => one.name === targetName && one.object === object);
}

async function writeTarget(
  target: WantedTarget,
  input: TargetsInput & { readonly isLate: boolean },
  context: PlanningContext,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const { published, now } = input;
  const before = recordedOf(target, input);
  if (published === undefined)
    return { ...lastWrite(before), ...recordOf(target), synced: false, reason: 'NotPublished' };
  if (input.isSuspended) return before ?? { ...recordOf(target), synced: false, reason: 'Suspended' };
  const lack = lackOf(target, published);
  if (lack !== undefined) return { ...lastWrite(before), ...recordOf(target), synced: false, reason: lack };
  // A file is compared also while it is contested.
  if (target.type === 'Git') return findGitTarget(target, before, { ...input, published }, context.git);
  if (before !== undefined && isLeftAlone(target, before, input, published)) return before;
  if (input.isLate) return waiting(target, before, published);
  try {
    return await editTarget(target, before, { ...input, published }, context, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClusterError)) throw error;
    // The object consented, and was deleted before the write.
    const reason = error.code === 'NotFound' ? 'NotGranted' : 'WriteFailed';
    return failedTarget(target, before, reason, error.message, now);
  }
}

/** What the target waits for although a version is published. Its old value leads to another version. */
function lackOf(target: WantedTarget, { ref, link }: PublishedBundle): TargetReason | undefined {
  if (target.writesRef && ref === undefined) return 'AwaitingCopy';
  // A version that was published by its copy alone has no link yet.
  return writesLink(target) && link === undefined ? 'AwaitingLink' : undefined;
}

/** Not written while contested, until a new version or spec; and while in back-off. */
function isLeftAlone(
  target: WantedTarget,
  before: TargetStatus,
  { owner, now, isHurried }: TargetsInput,
  published: PublishedBundle,
): boolean {
  if (before.reason === 'Contested') return isContested(target, before, owner, published);
  if (isHurried) return false;
  const retryAt = readInstant(before.retryTime);
  return !before.synced && retryAt !== undefined && retryAt > now && retryAt <= now + contestedWindowMs;
}
