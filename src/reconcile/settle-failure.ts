// What a refused or lost call makes of what is remembered: rule by rule, with the wait it earns. A failure only
// ever adds a wait, ends a job, or holds a key back; the published version is never touched.

import { formatInstant } from '../staticexport/instant.ts';
import type { Failure, StartRecord, Status } from '../staticexport/status-schema.ts';
import { forbiddenRetryMs } from './access.ts';
import { nextExportFailure, resendTime } from './adopt.ts';
import { linkWaitMs, longestRetryAfterMs, type Operation, waitMs } from './backoff.ts';
import { heldAgainst } from './forbidden-call.ts';
import { type Observation, pendingRequest } from './observation.ts';
import type { CallFailure, GateChange } from './result.ts';

/** A job that is gone is asked about again this much later, in case the API was wrong. */
export const goneRetryMs = 3_600_000;

/** What the status schema takes. */
const maxWhyLength = 256;

/** Adds to a operation's own bookkeeping what concerns everybody with this key. */
export function callFailed(
  observation: Observation,
  failure: CallFailure,
  status: Status,
): { readonly status: Status; readonly publish: undefined; readonly gate: GateChange } {
  const { key, now } = observation;
  if (isKeyRefused(observation, failure) && key.kind === 'present') {
    const refusedKey = {
      secretVersion: key.secretVersion,
      reason: failure.code === 'Unauthorized' ? ('Unauthorized' as const) : ('Forbidden' as const),
      refusalTime: formatInstant(now),
      request: pendingRequest(observation),
      requestId: failure.requestId,
    };
    const { secretVersion, reason } = refusedKey;
    // The key waits for its Secret; the operations do not wait on top of that. A clear no ends the mark all the same.
    // What is forbidden to one resource (its domain, its job) says nothing about the others with the same key.
    return {
      status: { ...observation.status, start: status.start, refusedKey },
      publish: undefined,
      gate: reason === 'Unauthorized' ? { kind: 'refuse', secretVersion, reason } : { kind: 'keep' },
    };
  }
  const isForAll = failure.code === 'RateLimited' || failure.code === 'ServerError';
  const wait = Math.min(failure.retryAfterMs ?? 0, longestRetryAfterMs);
  const gate: GateChange = isForAll && wait > 0 ? { kind: 'close', until: now + wait } : { kind: 'keep' };
  return { status, publish: undefined, gate };
}

/**
 * A key that publishes something is a good one: what it is forbidden then concerns the operation that asked, and the
 * published link is renewed meanwhile.
 */
function isKeyRefused({ status }: Observation, { code }: CallFailure): boolean {
  return code === 'Unauthorized' || (code === 'Forbidden' && status.active === undefined);
}

/** As the operations shall take it: a forbidden call is tried again after a quarter of an hour, whatever the operation. */
export function paced(failure: CallFailure): CallFailure {
  if (failure.code !== 'Forbidden') return failure;
  return { ...failure, retryAfterMs: Math.max(forbiddenRetryMs, failure.retryAfterMs ?? 0) };
}

/** The next failure of the poll operation (polling, issuing and reading an unpublished job). */
export function noteFailure(
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
    message: failure.why?.slice(0, maxWhyLength),
    requestId: failure.requestId,
    subject,
    inspectionFailures: same?.inspectionFailures,
    ...heldAgainst(observation, failure.code),
  };
}

/** An export came to nothing: the next one that nobody asked for waits. A pinned job is nobody's export. */
export function exportFailed(observation: Observation, status: Status, reason: string): Status {
  if (status.job?.cause === 'Pin') return status;
  return { ...status, failures: { ...status.failures, export: nextExportFailure(observation, { reason }) } };
}

const lostAnswers = ['ServerError', 'UnexpectedAnswer', 'RequestTimeout', 'NetworkError', 'Aborted'];

/**
 * A clear no ends the mark. Where the answer was lost the job may exist: the mark stays and is sent again with
 * the same key, until `adopt` sees that nobody ever confirmed it.
 */
export function startFailed(observation: Observation, mark: StartRecord, failure: CallFailure): Status {
  const { status, now, requestTimeoutMs } = observation;
  if (!lostAnswers.includes(failure.code)) {
    const refused = nextExportFailure(observation, {
      reason: failure.code,
      request: mark.request,
      retryAfterMs: failure.retryAfterMs,
      requestId: failure.requestId,
    });
    return { ...status, start: undefined, failures: { ...status.failures, export: refused } };
  }
  const resendAt = Math.max(
    resendTime(mark, now, requestTimeoutMs),
    now + Math.min(failure.retryAfterMs ?? 0, longestRetryAfterMs),
  );
  const unsure: Failure = {
    count: status.failures?.export?.count ?? 0,
    lastFailureTime: formatInstant(now),
    retryTime: formatInstant(resendAt),
    reason: failure.code,
    message: failure.why?.slice(0, maxWhyLength),
    requestId: failure.requestId,
    subject: observation.inputHash,
    request: status.failures?.export?.request,
  };
  return { ...status, start: mark, failures: { ...status.failures, export: unsure } };
}

/** The published link could not be renewed. */
export function refreshFailed(observation: Observation, failure: CallFailure): Status {
  const { status, output, now, wanted } = observation;
  const published = output.kind === 'ours' ? output.published : undefined;
  const count = (status.failures?.link?.count ?? 0) + 1;
  const isGone = failure.code === 'NotFound' || failure.code === 'Gone';
  const wait = isGone
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
    reason: isGone ? 'JobGone' : failure.code,
    message: failure.why?.slice(0, maxWhyLength),
    requestId: failure.requestId,
    ...heldAgainst(observation, failure.code),
  };
  return { ...status, failures: { ...status.failures, link } };
}
