// Plans the edit of a target's document between reconciles. A tenant's document may take seconds, and a published
// link must be refreshed meanwhile. One reconcile requests the plan and waits up to a second; where the plan takes
// longer, its end requests another reconcile, which takes it. Invariants: a resource has at most one plan in progress, made from the
// document and the wanted values of the current reconcile. A result without text is kept, so that an unchanged
// document is read once.

import { isSameWish, type TargetPlan, type TargetTask } from '#operator/targets/target-plan.ts';
import { waitAtMost } from '#platform/runtime/time-limit.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import type { TargetContext } from '../context.ts';
import type { PlannedTarget, TargetPlans } from '../memory.ts';
import { resourceId } from '../memory.ts';

/** All targets of one reconcile together wait this long for their plans. Ordinary documents need a tenth of it. */
const graceMs = 1000;
/** A resource retries after this time if its namespace has too many documents waiting. */
const crowdedMs = 5000;

/** The inputs of a plan; the same inputs give the same plan. */
export interface PlanBasis {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly task: TargetTask;
}

/** Plans of one reconcile's targets, which share its waiting time. */
export interface PlanRequests {
  /** @returns `undefined` while the plan is being made; its end wakes the resource */
  plan(targetId: string, basis: PlanBasis): Promise<TargetPlan | undefined>;
}

/**
 * @param targetIds all of the resource: plans of other targets are forgotten
 * @param signal ends the waiting, never the planning
 */
export function requestPlans(
  owner: ObjectKey,
  targetIds: readonly string[],
  context: TargetContext,
  signal: AbortSignal,
): PlanRequests {
  const plans = keepPlansOf(owner, targetIds, context);
  let leftMs = graceMs;
  return {
    plan: async (targetId, basis) => {
      const known = plans.get(targetId);
      const isUnderWay = [...plans.values()].some(({ done }) => done === undefined);
      // The plan in progress wakes the resource when it ends, and that reconcile begins this plan.
      if (!isOf(known, basis) && leftMs <= 0 && isUnderWay) return undefined;
      const planned = isOf(known, basis) ? known : begin(owner, targetId, basis, plans, context);
      // Reading and writing documents does not use up the waiting time. Otherwise a slow API server would prevent
      // every plan.
      const startedAt = context.clock.monotonic();
      if (planned.done === undefined && leftMs > 0)
        await waitAtMost(planned.ended, leftMs, context.clock, signal);
      const { done } = planned;
      leftMs -= context.clock.monotonic() - startedAt;
      if (done === undefined) planned.isAwaited = true;
      // The text of an edit may hold the link, and is large, so it is returned once.
      if (done?.outcome === 'edit') plans.delete(targetId);
      return done;
    },
  };
}

function keepPlansOf(owner: ObjectKey, targetIds: readonly string[], { memory }: TargetContext): TargetPlans {
  const id = resourceId(owner);
  const plans: TargetPlans = memory.plans.get(id) ?? new Map();
  for (const [targetId, { stop }] of plans) {
    if (targetIds.includes(targetId)) continue;
    stop.abort();
    plans.delete(targetId);
  }
  memory.plans.set(id, plans);
  return plans;
}

function isOf(
  planned: PlannedTarget | undefined,
  { uid, resourceVersion, task }: PlanBasis,
): planned is PlannedTarget {
  return (
    planned !== undefined &&
    planned.uid === uid &&
    planned.resourceVersion === resourceVersion &&
    isSameWish(planned.wish, task)
  );
}

function begin(
  owner: ObjectKey,
  targetId: string,
  { uid, resourceVersion, task }: PlanBasis,
  plans: TargetPlans,
  context: TargetContext,
): PlannedTarget {
  plans.get(targetId)?.stop.abort();
  const stop = new AbortController();
  const stopped = AbortSignal.any([context.memory.signal, stop.signal]);
  const planned: PlannedTarget = {
    ...{ uid, resourceVersion, stop },
    // Without the document: up to 16 for each resource would stay in memory as long as their objects do not change.
    wish: { type: task.type, wanted: task.wanted },
    done: undefined,
    isAwaited: false,
    ended: planOrPause(owner, task, context, stopped).then(
      (plan) => end(plan),
      () => end(undefined),
    ),
  };
  const end = (plan: TargetPlan | undefined): void => {
    planned.done = plan;
    if (plan === undefined && plans.get(targetId) === planned) plans.delete(targetId);
    if (planned.isAwaited && !stopped.aborted) context.wake(owner);
  };
  plans.set(targetId, planned);
  return planned;
}

/** @returns `undefined`, after a pause, when the namespace had too many documents waiting */
async function planOrPause(
  { namespace }: ObjectKey,
  task: TargetTask,
  { planner, clock }: TargetContext,
  stopped: AbortSignal,
): Promise<TargetPlan | undefined> {
  const plan = await planner.plan(namespace, task, stopped);
  if (plan === undefined) await clock.after(crowdedMs, stopped);
  return plan;
}
