// Starts a job in three steps: it writes the start record, sends the POST, and reports the id, which the caller saves. By
// project, the budget of the key may delay the start before the first step. A conflict on the start record ends the
// reconcile before a request is sent.

import { isUnanswered } from '#operator/reconcile/failure-policy.ts';
import { dueHook } from '#operator/reconcile/hooks.ts';
import { pendingRequest } from '#operator/reconcile/observation.ts';
import type { ActionResult } from '#operator/reconcile/result.ts';
import type { Action } from '#operator/reconcile/state.ts';
import type { StartRecord } from '#operator/staticexport/status-schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import type { ActionContext } from '../context.ts';
import { resourceId } from '../memory.ts';
import { writeSigned } from '../save.ts';
import { type Caller, call, connect, isUnsent, notePoll } from './api-call.ts';
import { returnStart, startBudgetId, type TakenStart, takeStart } from './start-times.ts';

interface StartInput extends Caller {
  readonly object: StaticExportObject;
}

/**
 * @returns with the object as last stored
 * @throws {ClusterError} when the start record could not be written; nothing was sent
 */
export async function startJob(
  action: Extract<Action, { kind: 'start' }>,
  input: StartInput,
  context: ActionContext,
  signal: AbortSignal,
): Promise<{ readonly result: ActionResult; readonly object: StaticExportObject }> {
  const { observation } = input;
  const api = connect(input, context);
  const record: StartRecord = {
    ...(action.record ?? {
      key: context.random.uuid(),
      inputHash: observation.inputHash,
      cause: action.cause,
      request: pendingRequest(observation),
      hook: dueHook(observation),
    }),
    lastAttemptTime: formatInstant(context.clock.now()),
    attempts: (action.record?.attempts ?? 0) + 1,
  };
  // Before the first await: another reconcile must not take the same place in the budget.
  const taken = takeByBudget(input, record, context);
  if (taken?.kind === 'delayed') {
    const { startsPerHour: perHour } = context.settings;
    return { result: { kind: 'start-delayed', record, perHour, ...taken.delay }, object: input.object };
  }
  const place = placeOf(input, record);
  const startTimes = (own: readonly number[]) => own.map(formatInstant);
  const counted = taken && { startTimes: startTimes(taken.own) };
  const recorded = { ...observation.status, ...counted, start: record };
  const object = await writeSigned(input.object, recorded, context, signal).catch((error: unknown) => {
    returnStart(context.memory.starts, place);
    throw error;
  });
  const result = await call<ActionResult, ActionResult>(
    async () => {
      const request = { domain: observation.wanted.domain, idempotencyKey: record.key };
      const { jobId, retryAfterMs } = await api.startJob(request, signal);
      notePoll(object, context, jobId, retryAfterMs);
      return { kind: 'started', record, ...counted, jobId };
    },
    (failure) => {
      if (taken === undefined || (isUnanswered(failure.code) && !isUnsent(failure)))
        return { kind: 'start-failed', record, ...counted, failure };
      // What is refused or was not sent is not a start.
      returnStart(context.memory.starts, place);
      return {
        kind: 'start-failed',
        record,
        startTimes: startTimes(taken.own.filter((at) => at !== place.now)),
        failure,
      };
    },
    signal,
  );
  return { result, object };
}

function placeOf({ object, observation }: StartInput, { lastAttemptTime }: StartRecord) {
  const { metadata } = object;
  return {
    budget: startBudgetId(metadata, observation.wanted),
    resource: resourceId(metadata),
    now: readInstant(lastAttemptTime) ?? observation.now,
  };
}

/** @returns `undefined` where the export API is asked by domain: its page names no limit */
function takeByBudget(
  input: StartInput,
  record: StartRecord,
  context: ActionContext,
): TakenStart | undefined {
  const { wanted, status } = input.observation;
  if (wanted.project === undefined) return undefined;
  const place = placeOf(input, record);
  return takeStart(context.memory.starts, {
    ...place,
    own: (status.startTimes ?? []).flatMap((time) => readInstant(time) ?? []),
    known: context.startTimesOf(place.budget),
    perHour: context.settings.startsPerHour,
    // A command that waits is a person's, or a pipeline's.
    cause: context.settings.isAwaited === true ? 'Request' : record.cause,
  });
}
