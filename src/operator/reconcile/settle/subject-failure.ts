// What a failure of a complete export changes, before its archive is judged: no link for it, or an archive that is refused. Pure.
// Invariant: a failure to obtain a link says nothing about the archive.

import type { Failure, JobStatus, Status } from '#operator/staticexport/status-schema.ts';
import { revisionOfSteps } from '#operator/staticexport/wanted-transform.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { callPolicies, goneRetryMs, inspectionAttempts } from '../failure-policy.ts';
import type { Observation } from '../observation.ts';
import type { CallFailure, InspectionFailure } from '../result.ts';
import type { Subject } from '../state.ts';
import { exportFailed, recordFailure } from './failed-call.ts';

/** @param subject whose failure it is: the id of a job */
export function longFailure({ now }: Observation, subject: string, reason: string): Failure {
  return {
    count: 1,
    lastFailureTime: formatInstant(now),
    retryTime: formatInstant(now + goneRetryMs),
    reason,
    subject,
  };
}

/** Issuing a link for the next version failed. */
export function subjectLinkFailed(observation: Observation, subject: Subject, failure: CallFailure): Status {
  const { status } = observation;
  const { job } = status;
  const later: Status = {
    ...status,
    failures: { ...status.failures, poll: recordFailure(observation, 'poll', subject.jobId, failure) },
  };
  const isTracked = job !== undefined && job.id === subject.jobId;
  const { isJobGone, isJobUnfinished } = callPolicies[failure.code];
  if (isJobUnfinished && isTracked && subject.cause !== 'release') {
    return { ...later, job: { ...job, completionTime: undefined } };
  }
  if (!isJobGone) return later;
  if (subject.cause === 'pin') {
    const gone = longFailure(observation, subject.jobId, 'PinnedJobGone');
    return { ...status, failures: { ...status.failures, poll: gone } };
  }
  const lost: Status = {
    ...status,
    candidate: subject.cause === 'release' ? undefined : status.candidate,
    job: isTracked ? { ...job, verdict: 'JobLost', message: undefined } : job,
  };
  return job?.cause === 'JobLost' ? exportFailed(observation, lost, 'JobLost') : lost;
}

/** Of which the archive was rejected: under other steps it may be accepted. */
const stepsOf = (
  { repair }: Subject,
  { stepRevisions }: Observation,
): Pick<JobStatus, 'repair' | 'repairRevision'> => ({
  repair,
  repairRevision: repair && revisionOfSteps(repair, stepRevisions),
});

/** The inspection failed: the archive is fetched again with a new link, or rejected for good. */
export function inspectFailed(
  observation: Observation,
  subject: Subject,
  failure: InspectionFailure,
): Status {
  const { status } = observation;
  const before = status.failures?.poll;
  // Failures to issue a link are counted too, but say nothing about the archive.
  const inspectionFailures =
    ((before?.subject === subject.jobId ? before.inspectionFailures : undefined) ?? 0) + 1;
  const noted = recordFailure(observation, 'poll', subject.jobId, {
    code: failure.code,
    retryAfterMs: failure.retryAfterMs,
    why: failure.message,
  });
  const poll = { ...noted, inspectionFailures };
  if (inspectionFailures < inspectionAttempts[failure.kind]) {
    return { ...status, failures: { ...status.failures, poll } };
  }
  const { job } = status;
  const message = printable(`${failure.code}: ${failure.message}`, 256);
  if (job?.id !== subject.jobId || (subject.cause === 'pin' && subject.version !== undefined)) {
    // A version of the history whose archive is now rejected: its content is not what was published. The last job may have been
    // published under other rules since, and its verdict stays.
    const changed = longFailure(observation, subject.jobId, 'PinnedContentChanged');
    return { ...status, failures: { ...status.failures, poll: changed } };
  }
  const rejected: Status = {
    ...status,
    job: { ...job, ...stepsOf(subject, observation), verdict: 'BundleRejected', message },
    failures: { ...status.failures, poll: undefined },
  };
  return exportFailed(observation, rejected, 'BundleRejected');
}
