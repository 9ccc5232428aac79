// One target: reads its object, checks its consent, plans the edit, and writes it unless the plan, the mode or another
// client forbids it. Invariants: only an object that consents is changed, and after a client reverts three writes the
// target is not written again.

import { annotations } from '#operator/staticexport/names.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { WantedObjectTarget, WantedTarget } from '#operator/staticexport/wanted.ts';
import type { ObjectPlan } from '#operator/targets/target-plan.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import type { TargetContext } from '../context.ts';
import type { FoundTarget } from './found-target.ts';
import { findTarget } from './object-targets.ts';
import type { PlanRequests } from './target-plans.ts';
import type { TargetNeed, TargetRecord } from './target-record.ts';

export interface PlanningContext extends TargetContext {
  readonly requests: PlanRequests;
}

export const planId = ({ targetName, object }: WantedTarget): string => `${targetName} ${object}`;

/** @throws {ClusterError} when reading or writing failed */
export async function editTarget(
  target: WantedObjectTarget,
  record: TargetRecord,
  { owner, now, published }: TargetNeed & { readonly owner: ObjectMeta },
  context: PlanningContext,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const found = await findTarget(target, published, context, signal);
  if (found?.metadata.annotations[annotations.allowFrom] !== `${owner.namespace}/${owner.name}`) {
    const consent = `${annotations.allowFrom}: ${owner.namespace}/${owner.name}`;
    return record.asRefused('NotGranted', `needs the annotation ${consent}`);
  }
  const planned = await planOf(target, found, context);
  if (planned === undefined) return record.asWaiting();
  const { plan, text, before: heldVersion = found.held } = planned;
  const shown = heldVersion === undefined ? {} : { heldVersion };
  switch (plan.outcome) {
    case 'in-sync':
      return target.isDryRun
        ? { ...record.asDryRun([]), ...shown }
        : await requestMissingSync(found, record, now, signal);
    case 'refused':
      return { ...record.asRefused('Refused', `${plan.code}: ${plan.message}`), ...shown };
    case 'owned':
      return { ...record.asRefused('OwnedElsewhere', plan.message), ...shown };
    case 'edit': {
      if (target.isDryRun) return { ...record.asDryRun(plan.changes), ...shown };
      if (found.rollout.state === 'paused' && target.type === 'Workload') {
        return { ...record.asRefused('Paused', found.rollout.message), ...shown };
      }
      const { reverted } = record;
      const reverts = reverted && { revertTimes: reverted.revertTimes };
      if (reverted?.isTooOften) return record.asContested({ ...shown, ...reverts });
      const outcome = await writeUnlessOwned(found, text, signal);
      if (outcome.kind === 'owned')
        return { ...record.asRefused('OwnedElsewhere', outcome.message), ...shown };
      if (outcome.kind === 'released') return { ...record.forgotten().asWaiting(), ...shown };
      return record.asHeld(rolloutAfterWrite(target), { writeTime: formatInstant(now), ...reverts });
    }
    default:
      return plan satisfies never;
  }
}

/** One sync for each version, and after a failed one another with a back-off. */
async function requestMissingSync(
  { rollout, sync }: FoundTarget,
  record: TargetRecord,
  now: number,
  signal: AbortSignal,
): Promise<TargetStatus> {
  const status = record.asHeld(rollout);
  const { failures, retryTime } = (record.isOfPublished && !status.synced && record.before) || {};
  if (sync === undefined) return { ...status, failures };
  if (sync.isRepeated) {
    if (retryTime === undefined) return { ...status, ...record.backOff(failures) };
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
