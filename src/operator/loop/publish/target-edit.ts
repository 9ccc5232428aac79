// One target: reads its object, checks its consent, plans the edit, and writes it unless the plan, the mode or another
// client forbids it. Invariants: only an object that consents is changed, and after a client reverts three writes the
// target is not written again.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { annotations } from '#operator/staticexport/names.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { WantedObjectTarget, WantedTarget } from '#operator/staticexport/wanted.ts';
import type { KeyChange, ObjectPlan } from '#operator/targets/target-plan.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import type { TargetContext } from '../context.ts';
import { findApplicationTarget } from './application-target.ts';
import type { FoundTarget } from './found-target.ts';
import { findHelmReleaseTarget, findWorkloadTarget } from './object-targets.ts';
import type { PlanRequests } from './target-plans.ts';
import {
  backOff,
  contestedReverts,
  heldTarget,
  holdsWish,
  isOfPublished,
  lastWrite,
  recordOf,
  refused,
  revertsWith,
  waiting,
} from './target-records.ts';
import { findValuesTarget } from './values-target.ts';

export interface EditInput {
  readonly owner: ObjectMeta;
  readonly now: number;
  readonly published: PublishedBundle;
}

export interface PlanningContext extends TargetContext {
  readonly requests: PlanRequests;
}

export const planId = ({ targetName, object }: WantedTarget): string => `${targetName} ${object}`;

/** @returns `undefined` for an object that does not exist or is forbidden to read */
function findTarget(
  target: WantedObjectTarget,
  published: PublishedBundle,
  context: TargetContext,
  signal: AbortSignal,
): Promise<FoundTarget | undefined> {
  switch (target.type) {
    case 'Values':
      return findValuesTarget(target, published, context, signal);
    case 'HelmRelease':
      return findHelmReleaseTarget(target, published, context, signal);
    case 'Application':
      return findApplicationTarget(target, published, context, signal);
    case 'Workload':
      return findWorkloadTarget(target, published, context, signal);
    default:
      return target satisfies never;
  }
}

/** @throws {ClusterError} when reading or writing failed */
export async function editTarget(
  target: WantedObjectTarget,
  before: TargetStatus | undefined,
  { owner, now, published }: EditInput,
  context: PlanningContext,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const found = await findTarget(target, published, context, signal);
  if (found?.metadata.annotations[annotations.allowFrom] !== `${owner.namespace}/${owner.name}`) {
    const consent = `${annotations.allowFrom}: ${owner.namespace}/${owner.name}`;
    return refused(target, before, 'NotGranted', `needs the annotation ${consent}`);
  }
  const planned = await planOf(target, found, context);
  if (planned === undefined) return waiting(target, before, published);
  const { plan, text, before: heldBefore = found.held } = planned;
  const hasWish = holdsWish(target, before, published);
  const isSame = isOfPublished(target, before, published);
  const record = {
    writeTime: isSame ? before.writeTime : undefined,
    revertTimes: isSame ? before.revertTimes : undefined,
  };
  const shown = { ...(heldBefore !== undefined && { heldVersion: heldBefore }) };
  switch (plan.outcome) {
    case 'in-sync':
      return target.isDryRun
        ? { ...dryRun(target, before, []), ...shown }
        : await requestMissingSync(
            found,
            heldTarget(target, published, found.rollout, record),
            before,
            now,
            signal,
          );
    case 'refused':
      return { ...refused(target, before, 'Refused', `${plan.code}: ${plan.message}`), ...shown };
    case 'owned':
      return { ...refused(target, before, 'OwnedElsewhere', plan.message), ...shown };
    case 'edit': {
      if (target.isDryRun) return { ...dryRun(target, before, plan.changes), ...shown };
      if (found.rollout.state === 'paused' && target.type === 'Workload') {
        return { ...refused(target, before, 'Paused', found.rollout.message), ...shown };
      }
      const revertTimes = hasWish ? revertsWith(before.revertTimes, now) : record.revertTimes;
      if (hasWish && revertTimes !== undefined && revertTimes.length >= contestedReverts) {
        const contested = heldTarget(target, published, { state: 'complete' }, { ...record, revertTimes });
        const contestedGeneration = owner.generation;
        return {
          ...contested,
          heldVersion: heldBefore,
          synced: false,
          reason: 'Contested',
          contestedGeneration,
        };
      }
      const outcome = await writeUnlessOwned(found, text, signal);
      if (outcome.kind === 'owned') {
        return { ...refused(target, before, 'OwnedElsewhere', outcome.message), ...shown };
      }
      if (outcome.kind === 'released') return { ...waiting(target, undefined, published), ...shown };
      return heldTarget(target, published, rolloutAfterWrite(target), {
        writeTime: formatInstant(now),
        revertTimes,
      });
    }
    default:
      return plan satisfies never;
  }
}

/** One sync for each version, and after a failed one another with a back-off. @param status without the request */
async function requestMissingSync(
  { sync }: FoundTarget,
  status: TargetStatus,
  before: TargetStatus | undefined,
  now: number,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const isSame = before?.version === status.version && before?.ref === status.ref;
  const { failures, retryTime } = isSame && !status.synced ? (before ?? {}) : {};
  if (sync === undefined) return { ...status, failures };
  if (sync.isRepeated) {
    if (retryTime === undefined) return { ...status, ...backOff(failures, now) };
    if ((readInstant(retryTime) ?? 0) > now) return { ...status, failures, retryTime };
  }
  try {
    await sync.request(signal);
  } catch (error) {
    // Another sync may have started since the read. The next check finds it, or requests again.
    if (!(error instanceof ClusterError) || error.code !== 'Invalid') throw error;
    return { ...status, failures };
  }
  const message = 'a sync was requested';
  return { ...status, reason: 'RollingOut', message, failures, writeTime: formatInstant(now) };
}

/** A ConfigMap or Secret has no rollout; what an object's controller makes of the write is read next time. */
function rolloutAfterWrite({ type }: WantedObjectTarget): FoundTarget['rollout'] {
  return type === 'Values'
    ? { state: 'complete' }
    : { state: 'in-progress', message: 'the version was just written' };
}

/** @returns `undefined` while the planner's thread reads the document */
async function planOf(
  target: WantedObjectTarget,
  { metadata, work }: FoundTarget,
  { requests }: PlanningContext,
): Promise<{ readonly plan: ObjectPlan; readonly text: string; readonly before?: string } | undefined> {
  if (work.kind === 'planned') return { plan: work.plan, text: '' };
  const { uid, resourceVersion } = metadata;
  const plan = await requests.plan(planId(target), { uid, resourceVersion, task: work.task });
  if (plan === undefined) return undefined;
  if (plan.outcome !== 'edit') return { plan, text: '' };
  const { version, digest, ref } = work.task.wanted;
  const values: Readonly<Record<string, string | undefined>> = { version, digest, ref };
  const changes = plan.keys.map((name) => {
    const value = values[name];
    return { key: `staticExport.${name}`, ...(value !== undefined && { value }) };
  });
  const { text, held: before } = plan;
  return { plan: { outcome: 'edit', changes }, text, ...(before !== undefined && { before }) };
}

async function writeUnlessOwned(
  { write, remedyOf }: FoundTarget,
  text: string,
  signal: AbortSignal,
): Promise<{ readonly kind: 'written' | 'released' } | { readonly kind: 'owned'; readonly message: string }> {
  try {
    return { kind: await write(text, signal) };
  } catch (error) {
    if (!(error instanceof ClusterError) || error.code !== 'FieldConflict') throw error;
    const managers = [...new Set(error.ownedFields.map(({ manager }) => manager))];
    return { kind: 'owned', message: remedyOf?.(managers) ?? error.message };
  }
}

export function dryRun(
  target: WantedTarget,
  before: TargetStatus | undefined,
  changes: readonly KeyChange[],
): TargetStatus {
  const message = changes.length === 0 ? 'Nothing would change.' : undefined;
  return {
    ...lastWrite(before),
    ...recordOf(target),
    ...{ synced: false, reason: 'DryRun', message, changes: changes.map((change) => ({ ...change })) },
  };
}
