// Hooks: requests for an export by the annotation of a webhook. A burst of hooks starts one export after a quiet period.
// Pure. Refuses: bypassing a back-off, and the clock of the client that wrote the annotation. Invariant: a hook stays
// pending until an export starts after its quiet period.

import type { HookRecord, StartRecord, Status } from '#operator/staticexport/status-schema.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import { clockToleranceMs } from './link-timing.ts';
import type { Observation } from './observation.ts';

/** A steady stream of hooks starts an export at the latest after this many quiet periods. */
export const longestBurst = 10;

/** A hook that no export has answered yet. Without `spec.trigger` the annotation means nothing. */
export function pendingHook({ hookRequest, status, wanted }: Observation): string | undefined {
  if (wanted.quietPeriodMs === undefined || hookRequest === status.lastHandledHook) return undefined;
  return hookRequest;
}

/** Remembers when this operator first and last saw a hook of the pending burst. */
export function recordHook(observation: Observation): Status {
  const { status, now } = observation;
  const token = pendingHook(observation);
  if (token === undefined) return { ...status, hook: undefined };
  const seenAt = formatInstant(now);
  const before = isFromLater(status.hook, now) ? undefined : status.hook;
  if (before?.token === token) return { ...status, hook: before };
  return { ...status, hook: { token, firstTime: before?.firstTime ?? seenAt, lastTime: seenAt } };
}

/** The record's times are in the future, because this clock was set back. The quiet period starts again. */
function isFromLater(hook: HookRecord | undefined, now: number): boolean {
  return (readInstant(hook?.lastTime) ?? 0) > now + clockToleranceMs;
}

/** When the pending hook may start an export, epoch ms. `undefined` without a pending hook. */
export function hookTime(observation: Observation): number | undefined {
  const { status, wanted, now } = observation;
  if (pendingHook(observation) === undefined) return undefined;
  const quietMs = wanted.quietPeriodMs ?? 0;
  const first = readInstant(status.hook?.firstTime) ?? now;
  const last = readInstant(status.hook?.lastTime) ?? now;
  return Math.min(last + quietMs, first + longestBurst * quietMs);
}

/** The hook that an export answers if it starts now. */
export function dueHook(observation: Observation): string | undefined {
  const at = hookTime(observation);
  return at !== undefined && at <= observation.now ? pendingHook(observation) : undefined;
}

/** A job has started. Hooks that came after its start record begin another burst. */
export function answerHook(
  { hook, lastHandledHook }: Status,
  record: StartRecord,
): Pick<Status, 'hook' | 'lastHandledHook'> {
  if (record.hook === undefined) return { hook, lastHandledHook };
  // An answered hook is not the first of the next burst, even where the next one is seen in the same reconcile.
  const next = hook?.token === record.hook ? undefined : hook && { ...hook, firstTime: hook.lastTime };
  return { hook: next, lastHandledHook: record.hook };
}
