// What a reconcile reports to metrics: names of states, and times, taken from the last observation. Contains no
// names other than the resource's, and no secrets. Pure.

import { type Observation, publishedTimes, unreadOutput } from '#operator/reconcile/observation.ts';
import type { ActionResult } from '#operator/reconcile/result.ts';
import type { Action, State } from '#operator/reconcile/state.ts';
import { nextRefreshTime } from '#operator/reconcile/status/status.ts';
import { readInstant } from '#platform/wire/instant.ts';
import type { ReconcileReport } from './context.ts';

export function reportReconcile(
  observation: Observation,
  state: State,
  action: Action['kind'],
  result: ActionResult,
  refusal: string | undefined,
): ReconcileReport {
  const { status, wanted } = observation;
  const published = publishedTimes(observation);
  const why = unreadOutput(observation);
  const unread = why === undefined ? undefined : 'OutputUnreadable';
  const actionFailure = 'failure' in result ? result.failure.code : undefined;
  return {
    isReady:
      status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false,
    isSuspended: wanted.isSuspended && observation.specProblems.length === 0,
    action,
    linkExpiresAt: published?.expiresAt,
    linkIssuedAt: published?.issuedAt,
    nextRefreshAt: nextRefreshTime(state),
    nextExportAt: readInstant(status.nextExportTime),
    actionFailure,
    failure: actionFailure ?? refusal ?? unread,
    why,
    blockedBy: state.access.kind === 'closed' ? state.access.reason : undefined,
  };
}
