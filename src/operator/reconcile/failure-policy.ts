// What an error means for a resource: retry, wait or stall. One table for each source of errors: the export API, the
// Kubernetes API server, archives. The growth of a back-off is in backoff.ts. Refuses: reading a message; only the
// code decides. A row without properties is retried with the back-off of its operation. When a 403's wait ends early is in
// forbidden-call.ts; how soon a failed reconcile is repeated is the controller's.

import type { ClusterErrorCode } from '#platform/wire/cluster-error.ts';
import type { CallCode, InspectionFailure } from './result.ts';
import type { StartDelay } from './start-budget.ts';

/** A forbidden call is sent again after this time. */
export const forbiddenRetryMs = 15 * 60_000;
/** A start is sent again after this time while another job of the project runs. */
const anotherExportMs = 60_000;
/** A job that is gone is requested again after this time, in case the export API was wrong. */
export const goneRetryMs = 3_600_000;

export interface CallPolicy {
  /**
   * Stall: the key is not used again until its Secret changes, or for 15 minutes after a 403. A key that publishes a
   * version is valid, so a 403 then concerns one operation.
   */
  readonly stallsKey?: 'always' | 'before-publication';
  /** Wait: the operation sends nothing for this time. */
  readonly minWaitMs?: number;
  /** Wait: `Retry-After` holds for every resource that uses this key. */
  readonly limitsKey?: true;
  /** Retry: the answer was lost, so a start may have succeeded. It is sent again with the same Idempotency-Key. */
  readonly isUnsure?: true;
  /** The export API does not have the job, so another job replaces it. */
  readonly isJobGone?: true;
  /** Wait: nothing failed; the start may be sent later, as it is. */
  readonly isPostponed?: true;
  /** The job is not complete after all, and is polled again. */
  readonly isJobUnfinished?: true;
}

export const callPolicies: Readonly<Record<CallCode, CallPolicy>> = {
  BadRequest: {},
  Unauthorized: { stallsKey: 'always' },
  Forbidden: { stallsKey: 'before-publication', minWaitMs: forbiddenRetryMs },
  NotFound: { isJobGone: true },
  Gone: { isJobGone: true },
  Conflict: { isJobUnfinished: true },
  AnotherExportRuns: { minWaitMs: anotherExportMs, isPostponed: true },
  RateLimited: { limitsKey: true },
  ServerError: { limitsKey: true, isUnsure: true },
  UnexpectedAnswer: { isUnsure: true },
  RequestTimeout: { isUnsure: true },
  NetworkError: { isUnsure: true },
  ExportApiNotTrusted: { isUnsure: true },
  Aborted: { isUnsure: true },
  ExpiredOnArrival: {},
  LinkRefused: {},
  LifetimeTooShort: {},
  HostNotAllowed: {},
  OutputWriteFailed: {},
};

/** Of starts that were not sent. */
const delayPolicies: Readonly<Record<StartDelay['code'], CallPolicy>> = {
  StartBudgetUsed: { isPostponed: true },
  StartsSpread: { isPostponed: true },
};

const policies = Object.entries({ ...callPolicies, ...delayPolicies });
const policyOf = (code: string): CallPolicy | undefined => policies.find(([one]) => one === code)?.[1];

/** True if the export API did not answer, or not as one: it may be away, and a retry can succeed. */
export function isUnanswered(code: string): boolean {
  return policyOf(code)?.isUnsure === true;
}

/** True if the start waits for another job of the project, or for the budget of its key. */
export const isPostponed = (code: string | undefined): boolean =>
  code !== undefined && policyOf(code)?.isPostponed === true;

/** True if the export API refused what the spec asks for: the same call is refused again. */
export function isRefusal(code: string): boolean {
  const policy = policyOf(code);
  return policy !== undefined && !policy.isUnsure && !policy.limitsKey && !policy.isPostponed;
}

export interface ClusterPolicy {
  /** Retry: the cause ends within seconds, so saving a started job's id is repeated in the same reconcile. */
  readonly isBrief?: true;
  /** Retry: another client wrote first, or the reconcile was stopped. The next reconcile reads again. */
  readonly endsReconcile?: true;
  /** Stall: a read that fails for this long is reported as a condition. Before, the reconcile fails and is retried. */
  readonly stallsAfterMs?: number;
  /** Stall: no retry alone changes it, so an event reports it where the status cannot be written. */
  readonly needsPerson?: true;
  /** Wait: a target that is forbidden to read may not exist. It waits for its owner's consent. */
  readonly hidesTarget?: true;
}

/** Short, because a starting API server returns 403 until it has loaded its roles. */
const refusalMs = 10_000;
/** Long, because an API server returns 5xx during its upgrade. */
const outageMs = 10 * 60_000;

export const clusterPolicies: Readonly<Record<ClusterErrorCode, ClusterPolicy>> = {
  Conflict: { isBrief: true, endsReconcile: true },
  FieldConflict: {},
  AlreadyExists: {},
  NotFound: { hidesTarget: true },
  Forbidden: { stallsAfterMs: refusalMs, needsPerson: true, hidesTarget: true },
  Unauthorized: { isBrief: true },
  Invalid: { stallsAfterMs: refusalMs, needsPerson: true },
  Gone: {},
  TooManyRequests: { isBrief: true },
  NamespaceTerminating: {},
  Unavailable: { isBrief: true, stallsAfterMs: outageMs },
  Aborted: { endsReconcile: true },
};

/** Retry: with another link, so many times. Then, or at once where a retry cannot help, the archive is rejected. */
export const inspectionAttempts: Readonly<Record<InspectionFailure['kind'], number>> = {
  'expired-link': 10,
  // Clocks and a bucket's policy say nothing about the archive.
  'early-link': Number.POSITIVE_INFINITY,
  'refused-link': Number.POSITIVE_INFINITY,
  transient: 10,
  rejected: 1,
};

/**
 * How long a failing read may last before it is a stall: at most a quarter of the published link's remaining lifetime,
 * and at least 10 s. It is reported so well before the link expires.
 *
 * @param remainingMs of the published link; `undefined` without one
 */
export function readStallMs(code: ClusterErrorCode, remainingMs: number | undefined): number {
  const { stallsAfterMs = Number.POSITIVE_INFINITY } = clusterPolicies[code];
  return remainingMs === undefined
    ? stallsAfterMs
    : Math.min(stallsAfterMs, Math.max(refusalMs, remainingMs / 4));
}
