// The status to store: what is remembered, the conditions, and the times that users ask for. Pure. Invariants: the
// same input gives the same status, so that an idle resource is never written. Unknown fields and conditions are
// kept.

import { exportedReasons, linkReasons, stalledReasons } from '#operator/staticexport/reasons.ts';
import type { Status, TargetStatus } from '#operator/staticexport/status-schema.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { Observation } from '../observation.ts';
import type { State } from '../state.ts';
import { dateConditions } from './condition-dates.ts';
import { claimConditions } from './conditions.ts';
import { keepForeign } from './foreign-fields.ts';
import { longestConditionMessage, type UndatedCondition } from './undated-condition.ts';

/** @param observation adopted again after settling and after the outputs were written */
export function statusOf(observation: Observation, state: State, targets: readonly TargetStatus[]): Status {
  const { status, generation, now } = observation;
  const claims = claimConditions(observation, state, targets);
  const nextRefresh = nextRefreshTime(state);
  const { failures } = status;
  const hasFailures = Object.values(failures ?? {}).some((one) => one !== undefined);
  return {
    ...status,
    observedGeneration: generation,
    pages: shownPages(status),
    conditions: [...dateConditions(claims, status.conditions ?? [], generation, now)],
    lastCompletedRequest: completedRequest(status),
    nextRefreshTime: nextRefresh === undefined ? undefined : formatInstant(nextRefresh),
    failures: hasFailures ? failures : undefined,
    targets: targets.length === 0 ? undefined : targets.map(shownTarget),
  };
}

/** A refusal may quote text from another owner's document. */
function shownTarget(target: TargetStatus): TargetStatus {
  const { message } = target;
  return message === undefined ? target : { ...target, message: printable(message, 1024) };
}

/** A request is handled when its job starts, and completed when the tracked job has a verdict. */
function completedRequest({ job, lastHandledRequest, lastCompletedRequest }: Status): string | undefined {
  // One new job replaces a lost job, and completes its request.
  const isReplaced = job?.verdict === 'JobLost' && job.cause !== 'JobLost';
  return job?.verdict === undefined || isReplaced ? lastCompletedRequest : lastHandledRequest;
}

/** When the link operation acts next, if it has anything to do. */
export function nextRefreshTime({ link, access }: State): number | undefined {
  if (link.kind === 'fresh') return link.refreshAt;
  if (link.kind !== 'waiting' && link.kind !== 'unissuable') return undefined;
  // Without access the time is unknown, because it depends on the person who restores access.
  return link.until > 0 && access.kind === 'open' ? link.until : undefined;
}

/** Conditions about what is published, which hold although no action is possible. */
const lastingTypes: readonly string[] = ['Exported', 'LinkFresh', 'Mirrored', 'TargetsSynced'];

/** For a stored spec that does not even say where its link is issued: no action, and everything is kept. */
export function statusOfUnreadable(
  status: Status,
  problems: readonly string[],
  generation: number,
  now: number,
): Status {
  const { active, conditions = [] } = status;
  const message = printable(`${stalledReasons.InvalidSpec} ${problems.join(', ')}`, longestConditionMessage);
  const isExpired = (readInstant(active?.linkExpirationTime) ?? Number.POSITIVE_INFINITY) <= now;
  const isExportKnown = conditions.some(({ type }) => type === 'Exported');
  const claims: readonly UndatedCondition[] = [
    { type: 'Ready', status: 'False', reason: 'InvalidSpec', message },
    { type: 'Stalled', status: 'True', reason: 'InvalidSpec', message },
    ...(isExportKnown ? [] : [unknownExport]),
    ...(isExpired ? [expiredLink] : []),
  ];
  const kept = conditions.filter(
    ({ type }) => lastingTypes.includes(type) && !claims.some((one) => one.type === type),
  );
  return {
    ...status,
    observedGeneration: generation,
    conditions: [...dateConditions(claims, conditions, generation, now), ...kept],
  };
}

const unknownExport: UndatedCondition = {
  type: 'Exported',
  status: 'Unknown',
  reason: 'Pending',
  message: exportedReasons.Pending,
};
const expiredLink: UndatedCondition = {
  type: 'LinkFresh',
  status: 'False',
  reason: 'Expired',
  message: linkReasons.Expired,
};

/** The whole object to store: the known fields over the stored ones, unknown fields kept. */
export function mergeStatus(raw: unknown, next: Status): object {
  return plainFields(keepForeign(raw, next));
}

/** True when storing `next` would change nothing. */
export function isSameStatus(raw: unknown, next: object): boolean {
  return isSameJson(raw ?? {}, next);
}

type Fields = Readonly<Record<string, unknown>>;

/** As JSON carries it: absent instead of undefined. */
function plainFields(fields: object): Fields {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) plain[name] = toPlain(value);
  return plain;
}

function toPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(toPlain) : plainFields(value);
}

/** Every reconcile compares every resource, so no copies are made. Absent and undefined are equal. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => isSameJson(item, other[index]));
  }
  if (!isRecord(one) || !isRecord(other)) return false;
  const isHere = Object.keys(one).every((name) =>
    isSameJson(one[name], Object.hasOwn(other, name) ? other[name] : undefined),
  );
  return isHere && Object.keys(other).every((name) => Object.hasOwn(one, name) || other[name] === undefined);
}

/**
 * The one page count that a table has room for: of the published version, else of the version in progress, never mixed.
 *
 * @returns `undefined` if no page count is known yet
 */
export function shownPages({ active, candidate, job }: Status): number | undefined {
  if (active === undefined) return candidate?.pages ?? job?.pageCount;
  // Without an inspection, the export API's own count is the only one.
  return active.pages ?? (job?.id === active.jobId ? job.pageCount : undefined);
}
