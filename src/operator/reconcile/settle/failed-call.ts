// Updates the remembered status after a refused or lost call, rule by rule, with the resulting wait. A failure only
// adds a wait, ends a job, or blocks a key. It never changes the published version.

import type { ExportCause, Failure, StartRecord, Status } from '#operator/staticexport/status-schema.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { nextExportFailure, resendTime } from '../adopt.ts';
import { linkWaitMs, longestRetryAfterMs, type Operation, waitMs } from '../backoff.ts';
import { callPolicies, goneRetryMs } from '../failure-policy.ts';
import { heldAgainst } from '../forbidden-call.ts';
import { type Observation, pendingRefresh, pendingRequest } from '../observation.ts';
import type { ActionResult, CallFailure, RateLimitChange } from '../result.ts';
import { isPersonal, type StartDelay } from '../start-budget.ts';

/** The limit of the status schema. */
const maxWhyLength = 512;

/** The API server stores half of a character as another one, and each reconcile would write the status again. */
const shownWhy = ({ why }: Pick<CallFailure, 'why'>): string | undefined =>
  why === undefined ? undefined : printable(why, maxWhyLength);

/** Adds to an operation's own record the effects on all resources with this key. */
export function callFailed(
  observation: Observation,
  failure: CallFailure,
  status: Status,
): { readonly status: Status; readonly publish: undefined; readonly rateLimit: RateLimitChange } {
  const { key, now } = observation;
  if (isKeyRefused(observation, failure) && key.kind === 'present') {
    const refusedKey = {
      secretVersion: key.secretVersion,
      reason: failure.code === 'Unauthorized' ? ('Unauthorized' as const) : ('Forbidden' as const),
      refusalTime: formatInstant(now),
      request: pendingRequest(observation),
      said: failure.said,
      requestId: failure.requestId,
    };
    const { secretVersion, reason } = refusedKey;
    // The key waits for its Secret, so the operations need no wait of their own. A definite refusal still ends the
    // start record. A 403 for one resource (its domain, its job) says nothing about other resources with the same
    // key.
    return {
      status: { ...observation.status, start: status.start, refusedKey },
      publish: undefined,
      rateLimit: reason === 'Unauthorized' ? { kind: 'refuse', secretVersion, reason } : { kind: 'keep' },
    };
  }
  const wait = Math.min(failure.retryAfterMs ?? 0, longestRetryAfterMs);
  const rateLimit: RateLimitChange =
    callPolicies[failure.code].limitsKey && wait > 0
      ? { kind: 'close', until: now + wait }
      : { kind: 'keep' };
  return { status, publish: undefined, rateLimit };
}

function isKeyRefused({ status }: Observation, { code }: CallFailure): boolean {
  const { stallsKey } = callPolicies[code];
  return stallsKey === 'always' || (stallsKey === 'before-publication' && status.active === undefined);
}

/** The failure with at least the wait that its code asks for. */
export function paced(failure: CallFailure): CallFailure {
  const { minWaitMs } = callPolicies[failure.code];
  return minWaitMs === undefined
    ? failure
    : { ...failure, retryAfterMs: Math.max(minWaitMs, failure.retryAfterMs ?? 0) };
}

/** The next failure of the poll operation (polling, issuing and reading an unpublished job). */
export function recordFailure(
  observation: Observation,
  operation: Extract<Operation, 'poll'>,
  subject: string,
  failure: Omit<CallFailure, 'code'> & { readonly code: string },
): Failure {
  const { status, now } = observation;
  const before = status.failures?.[operation];
  const same = before?.subject === subject ? before : undefined;
  const count = (same?.count ?? 0) + 1;
  return {
    count,
    lastFailureTime: formatInstant(now),
    retryTime: formatInstant(now + waitMs(operation, count, failure.retryAfterMs)),
    reason: failure.code,
    message: shownWhy(failure),
    said: failure.said,
    requestId: failure.requestId,
    subject,
    inspectionFailures: same?.inspectionFailures,
    ...heldAgainst(observation, failure.code),
  };
}

/** An export failed, so the next export without a request waits. A pinned job does not count as an export. */
export function exportFailed(observation: Observation, status: Status, reason: string): Status {
  if (status.job?.cause === 'Pin') return status;
  return { ...status, failures: { ...status.failures, export: nextExportFailure(observation, { reason }) } };
}

/**
 * A definite refusal ends the start record. If the response was lost, the job may exist. The start record then
 * stays and is sent again with the same key, until `adopt` drops it as unconfirmed.
 */
export function startFailed(observation: Observation, record: StartRecord, failure: CallFailure): Status {
  const { status, now, requestTimeoutMs, wanted } = observation;
  const { isUnsure, isPostponed, minWaitMs = 0 } = callPolicies[failure.code];
  if (!isUnsure) {
    // By then the other job has ended, or its own deadline has passed.
    if (isPostponed) {
      const longestMs = Math.max(minWaitMs, wanted.jobTimeoutMs, failure.retryAfterMs ?? 0);
      return { ...waitingForStart(observation, record, failure, longestMs), start: undefined };
    }
    const refused = nextExportFailure(observation, {
      reason: failure.code,
      request: record.request,
      retryAfterMs: failure.retryAfterMs,
      said: failure.said,
      requestId: failure.requestId,
    });
    return {
      ...status,
      start: undefined,
      failures: { ...status.failures, start: undefined, export: refused },
    };
  }
  const resendAt = Math.max(
    resendTime(record, now, requestTimeoutMs),
    now + Math.min(failure.retryAfterMs ?? 0, longestRetryAfterMs),
  );
  const unsure: Failure = {
    count: status.failures?.export?.count ?? 0,
    lastFailureTime: formatInstant(now),
    retryTime: formatInstant(resendAt),
    reason: failure.code,
    message: shownWhy(failure),
    said: failure.said,
    requestId: failure.requestId,
    subject: observation.inputHash,
    request: status.failures?.export?.request,
  };
  return { ...status, start: record, failures: { ...status.failures, start: undefined, export: unsure } };
}

/** Nothing was sent, so a start record that is there stays. */
export function startDelayed(
  observation: Observation,
  { code, until, perHour, record }: Extract<ActionResult, { kind: 'start-delayed' }>,
): Status {
  const untilMs = Math.max(0, until - observation.now);
  const delay = { code, retryAfterMs: untilMs, why: describeBudget(code, perHour, record.cause) };
  return waitingForStart(observation, record, delay, untilMs);
}

/** A start that waits is not a failure of the export, so it has a record of its own, and no back-off is forgotten. */
function waitingForStart(
  observation: Observation,
  { request }: StartRecord,
  delay: Omit<CallFailure, 'code'> & { readonly code: string },
  longestMs: number,
): Status {
  const { status, now, inputHash, isAwaited = false } = observation;
  const before = status.failures?.start;
  const count = (before?.reason === delay.code ? before.count : 0) + 1;
  const waitingMs = waitMs(isAwaited ? 'poll' : 'export', count, delay.retryAfterMs);
  const start: Failure = {
    count,
    lastFailureTime: formatInstant(now),
    retryTime: formatInstant(now + Math.min(waitingMs, longestMs)),
    reason: delay.code,
    message: shownWhy(delay),
    said: delay.said,
    requestId: delay.requestId,
    subject: inputHash,
    request: request ?? before?.request,
  };
  return { ...status, failures: { ...status.failures, start } };
}

function describeBudget(code: StartDelay['code'], perHour: number, cause: ExportCause): string {
  const rest = isPersonal(cause) ? '' : ', but for one that is left to requests and hooks';
  const all = `all ${perHour} starts that this key has in an hour are used${rest}; if your plan has more, raise startsPerHour of the chart, or --starts-per-hour`;
  const spread = `scheduled starts of this key keep their distance, because it has ${perHour} in an hour`;
  return code === 'StartBudgetUsed' ? all : spread;
}

/** The refresh of the published link failed. */
export function refreshFailed(observation: Observation, failure: CallFailure): Status {
  const { status, output, now, wanted } = observation;
  const published = output.kind === 'ours' ? output.published?.link : undefined;
  const count = (status.failures?.link?.count ?? 0) + 1;
  const { isJobGone } = callPolicies[failure.code];
  const wait = isJobGone
    ? goneRetryMs
    : linkWaitMs({
        count,
        retryAfterMs: failure.retryAfterMs,
        minIntervalMs: wanted.minIntervalMs,
        remainingMs: (published?.expiresAt ?? 0) - now,
      });
  const link: Failure = {
    count,
    lastFailureTime: formatInstant(now),
    retryTime: formatInstant(now + wait),
    reason: isJobGone ? 'JobGone' : failure.code,
    message: shownWhy(failure),
    said: failure.said,
    requestId: failure.requestId,
    refreshRequest: pendingRefresh(observation),
    ...heldAgainst(observation, failure.code),
  };
  return { ...status, failures: { ...status.failures, link } };
}
