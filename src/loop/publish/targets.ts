// Targets: other owners' objects, which get the published version and, if the spec says so, the link. Each target has
// its own back-off, and all of them together delay the status by half a minute at most. Invariants: only an object that
// consents is changed, and a target follows the output Secret. After a client reverts three writes, the target is not
// written again.

import type { PublishedBundle } from '../../bundle/published-bundle.ts';
import { waitMs } from '../../reconcile/backoff.ts';
import { annotations } from '../../staticexport/names.ts';
import type { TargetReason } from '../../staticexport/reasons.ts';
import type { TargetStatus } from '../../staticexport/status-schema.ts';
import type { WantedTarget } from '../../staticexport/wanted.ts';
import type { ObjectMeta } from '../../wire/cluster.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import { formatInstant, readInstant } from '../../wire/instant.ts';
import type { TargetContext } from '../context.ts';
import { dropPlans, resourceId } from '../memory.ts';
import { type PlanRequests, requestPlans } from './target-plans.ts';
import { type FoundTarget, findValuesTarget } from './values-target.ts';

/** No further target is begun after this time. An admission webhook may hold each write for 15 s. */
const budgetMs = 15_000;
const contestedWindowMs = 10 * 60_000;
const contestedReverts = 3;
/** Beyond this count the back-off does not grow, and the count says nothing more. */
const maxFailures = 6;

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
  const results = new Map<WantedTarget, TargetStatus>();
  const ids = targets.map(planId);
  const requests = requestPlans(input.owner, ids, context, signal);
  const startedAt = context.clock.monotonic();
  let isUnfinished = false;
  for (const target of inOrderOfNeed(targets, input)) {
    const isLate = context.clock.monotonic() - startedAt > budgetMs;
    const result = await writeTarget(target, { ...input, isLate }, { ...context, requests }, signal);
    results.set(target, result);
    isUnfinished ||= isLate && result.reason === 'Pending';
  }
  if (isUnfinished) context.wake(input.owner);
  return targets.flatMap((target) => results.get(target) ?? []);
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
    return { ...pick(before), ...recordOf(target), synced: false, reason: 'NotPublished' };
  if (input.isSuspended) return before ?? { ...recordOf(target), synced: false, reason: 'Suspended' };
  if (before !== undefined && isLeftAlone(before, input, published)) return before;
  if (input.isLate) return waiting(target, before, published);
  try {
    return await editTarget(target, before, { ...input, published }, context, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClusterError)) throw error;
    // The object consented, and was deleted before the write.
    const reason = error.code === 'NotFound' ? 'NotGranted' : 'WriteFailed';
    return failed(target, before, reason, error.message, now);
  }
}

const planId = ({ targetName, object }: WantedTarget): string => `${targetName} ${object}`;
const recordOf = ({ targetName, object }: WantedTarget): Pick<TargetStatus, 'name' | 'object'> => ({
  name: targetName,
  object,
});

/** Not written while contested, until a new version or spec; and while in back-off. */
function isLeftAlone(
  before: TargetStatus,
  { owner, now, isHurried }: TargetsInput,
  published: PublishedBundle,
): boolean {
  if (before.reason === 'Contested') {
    return before.version === published.version && before.contestedGeneration === owner.generation;
  }
  if (isHurried) return false;
  const retryAt = readInstant(before.retryTime);
  return !before.synced && retryAt !== undefined && retryAt > now && retryAt <= now + contestedWindowMs;
}

/** The fields of the record that outlast a failure: the last write, and the client that reverted it. */
function pick(
  before: TargetStatus | undefined,
): Pick<TargetStatus, 'version' | 'linkIssueTime' | 'revertTimes'> {
  return { version: before?.version, linkIssueTime: before?.linkIssueTime, revertTimes: before?.revertTimes };
}

/** Waits for an edit by the object's owner. Every reconcile checks it; status stores it once. */
function refused(
  target: WantedTarget,
  before: TargetStatus | undefined,
  reason: TargetReason,
  detail: string,
): TargetStatus {
  return { ...pick(before), ...recordOf(target), synced: false, reason, message: detail.slice(0, 512) };
}

/** The stored result for the same wanted values stays true until a plan says otherwise. */
function waiting(
  target: WantedTarget,
  before: TargetStatus | undefined,
  published: PublishedBundle,
): TargetStatus {
  const failures = before?.synced === false ? before.failures : undefined;
  if (holdsWish(target, before, published)) return before;
  return { ...pick(before), ...recordOf(target), synced: false, reason: 'Pending', failures };
}

function holdsWish(
  target: WantedTarget,
  before: TargetStatus | undefined,
  published: PublishedBundle,
): before is TargetStatus {
  return (
    before?.synced === true &&
    before.version === published.version &&
    before.linkIssueTime === issueTimeOf(target, published)
  );
}

function issueTimeOf({ writesLink }: WantedTarget, { issuedAt }: PublishedBundle): string | undefined {
  return writesLink ? formatInstant(issuedAt) : undefined;
}

/** The Kubernetes API server refused the write. The operator retries with a back-off. */
function failed(
  target: WantedTarget,
  before: TargetStatus | undefined,
  reason: TargetReason,
  detail: string,
  now: number,
): TargetStatus {
  const failures = Math.min(maxFailures, (before?.synced === false ? (before.failures ?? 0) : 0) + 1);
  return {
    ...refused(target, before, reason, detail),
    failures,
    retryTime: formatInstant(now + waitMs('target', failures, undefined)),
  };
}

interface PlanningContext extends TargetContext {
  readonly requests: PlanRequests;
}

/** @returns `undefined` for an object that does not exist or is forbidden to read */
function findTarget(
  target: WantedTarget,
  published: PublishedBundle,
  context: TargetContext,
  signal: AbortSignal,
): Promise<FoundTarget | undefined> {
  switch (target.type) {
    case 'Values':
      return findValuesTarget(target, published, context, signal);
    default:
      return target.type satisfies never;
  }
}

async function editTarget(
  target: WantedTarget,
  before: TargetStatus | undefined,
  input: TargetsInput & { readonly published: PublishedBundle },
  context: PlanningContext,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const { owner, now, published } = input;
  const found = await findTarget(target, published, context, signal);
  if (found?.metadata.annotations[annotations.allowFrom] !== `${owner.namespace}/${owner.name}`) {
    const consent = `${annotations.allowFrom}: ${owner.namespace}/${owner.name}`;
    return refused(target, before, 'NotGranted', `needs the annotation ${consent}`);
  }
  const { task } = found;
  if ('problem' in task) return refused(target, before, 'Refused', task.problem);
  const { uid, resourceVersion } = found.metadata;
  const plan = await context.requests.plan(planId(target), { uid, resourceVersion, task });
  const issuedAt = issueTimeOf(target, published);
  const hasWish = holdsWish(target, before, published);
  const synced: TargetStatus = {
    ...recordOf(target),
    synced: true,
    reason: 'Synced',
    version: published.version,
    linkIssueTime: issuedAt,
    revertTimes: before?.version === published.version ? before.revertTimes : undefined,
  };
  if (plan === undefined) return waiting(target, before, published);
  switch (plan.outcome) {
    case 'in-sync':
      return synced;
    case 'refused':
      return refused(target, before, 'Refused', `${plan.code}: ${plan.message}`);
    case 'edit': {
      const revertTimes = hasWish ? revertsWith(before.revertTimes, now) : synced.revertTimes;
      if (hasWish && revertTimes !== undefined && revertTimes.length >= contestedReverts) {
        return {
          ...synced,
          synced: false,
          reason: 'Contested',
          revertTimes,
          contestedGeneration: owner.generation,
        };
      }
      await found.write(plan.text, signal);
      return { ...synced, revertTimes };
    }
    default:
      return plan satisfies never;
  }
}

/** This revert and those of the last ten minutes, at most as many as make the target contested. */
function revertsWith(before: readonly string[] | undefined, now: number): string[] {
  const recent = (before ?? []).filter((at) => (readInstant(at) ?? 0) > now - contestedWindowMs);
  return [...recent, formatInstant(now)].slice(-contestedReverts);
}
