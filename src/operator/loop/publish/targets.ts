// Targets: other owners' objects, which get the published version and, if the spec says so, the link. Each target has
// its own back-off, and all of them together delay the status by half a minute at most. Invariants: only an object that
// consents is changed, and a target follows the output Secret. After a client reverts three writes, the target is not
// written again.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { WantedTarget } from '#operator/staticexport/wanted.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { TargetContext } from '../context.ts';
import { dropPlans, resourceId } from '../memory.ts';
import { findGitTarget } from './git-target.ts';
import { editTarget, type PlanningContext, planId } from './target-edit.ts';
import { requestPlans } from './target-plans.ts';
import { dated, recordOf, type TargetNeed, type TargetRecord, unsynced } from './target-record.ts';

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
  const { owner, now, isSuspended, published, before } = input;
  // A plan that cannot be written now may be large, so it is dropped and made again.
  if (input.isUnknown || isSuspended || published === undefined) dropPlans(context.memory, resourceId(owner));
  if (input.isUnknown) return before;
  const { namespace, name } = owner;
  const storedOf = ({ targetName, object }: WantedTarget) =>
    before.find((one) => one.name === targetName && one.object === object);
  if (published === undefined) {
    context.git.keep({ namespace, name }, []);
    return targets.map((target) => {
      const stored = storedOf(target);
      return dated(unsynced(target, stored, 'NotPublished'), stored, now);
    });
  }
  const need = { ...input, published };
  const recorded = targets.map((target) => ({ target, record: recordOf(target, storedOf(target), need) }));
  // A suspended resource writes nothing, and neither does a target that waits. So their waiting pushes are withdrawn.
  const pushed = recorded.filter(({ target, record }) => target.type === 'Git' && record.lack === undefined);
  context.git.keep({ namespace, name }, isSuspended ? [] : pushed.map(({ target }) => planId(target)));
  const requests = requestPlans(owner, targets.map(planId), context, signal);
  const startedAt = context.clock.monotonic();
  const results = new Map<WantedTarget, TargetStatus>();
  let isUnfinished = false;
  for (const { target, record } of recorded.toSorted(
    (one, other) => rankOf(one.record) - rankOf(other.record),
  )) {
    const isLate = context.clock.monotonic() - startedAt > budgetMs;
    const result = await writeTarget(target, record, { ...need, isLate }, { ...context, requests }, signal);
    results.set(target, dated(result, record.before, now));
    isUnfinished ||= isLate && result.reason === 'Pending';
  }
  if (isUnfinished) context.wake(owner);
  return targets.flatMap((target) => results.get(target) ?? []);
}

/**
 * Targets that lack the published version, then those that wait for their owners, then those in sync. Otherwise slow
 * reads of the first targets would keep the last ones from their turn in every reconcile.
 */
function rankOf({ before, holdsWish }: TargetRecord): number {
  if (holdsWish) return 2;
  return before === undefined || before.synced || before.reason === 'Pending' ? 0 : 1;
}

async function writeTarget(
  target: WantedTarget,
  record: TargetRecord,
  input: TargetsInput & TargetNeed & { readonly isLate: boolean },
  context: PlanningContext,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const { before, lack } = record;
  if (input.isSuspended) return before ?? record.asLacking('Suspended');
  if (lack !== undefined) return record.asLacking(lack);
  // A file is compared also while it is contested.
  if (target.type === 'Git') return findGitTarget(target, before, input, context.git);
  if (before !== undefined && isLeftAlone(record, input)) return before;
  if (input.isLate) return record.asWaiting();
  try {
    return await editTarget(target, record, input, context, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClusterError)) throw error;
    // The object consented, and was deleted before the write.
    return record.asFailed(error.code === 'NotFound' ? 'NotGranted' : 'WriteFailed', error.message);
  }
}

/** Not written while contested, until a new version or spec; and while in back-off. */
function isLeftAlone(record: TargetRecord, { isHurried }: TargetsInput): boolean {
  if (record.before?.reason === 'Contested') return record.isContested;
  return !isHurried && record.isInBackOff;
}
