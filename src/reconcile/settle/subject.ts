// Decides about a complete export after its archive was inspected: published, unchanged, held by a promotion gate,
// or rejected. Pinned versions and promoted candidates skip the gates, but their content must match.

import type { Failure, JobStatus, Status } from '../../staticexport/status-schema.ts';
import { formatInstant, readInstant } from '../../wire/instant.ts';
import type { LinkTimes, Publication } from '../../wire/publication.ts';
import { callPolicies, goneRetryMs, inspectionAttempts } from '../failure-policy.ts';
import { type Observation, rejectedNow } from '../observation.ts';
import type { CallFailure, InspectedContent, InspectionFailure } from '../result.ts';
import type { Subject } from '../state.ts';
import { exportFailed, recordFailure } from './failed-call.ts';
import { judge } from './promotion.ts';
import { nameVersion } from './version.ts';

interface SubjectSettled {
  readonly status: Status;
  readonly publish: Publication | undefined;
}

/** @param content what the inspection found, or the subject's stored content if nothing was inspected */
export function settleSubject(
  observation: Observation,
  subject: Subject,
  content: InspectedContent,
  times: LinkTimes,
): SubjectSettled {
  switch (subject.cause) {
    case 'job':
      return settleJob(observation, subject, content, times);
    case 'pin':
      return settlePin(observation, subject, content, times);
    case 'release':
      return settleRelease(observation, subject, times);
    default:
      return subject.cause satisfies never;
  }
}

function settleJob(
  observation: Observation,
  subject: Subject,
  content: InspectedContent,
  times: LinkTimes,
): SubjectSettled {
  const { status, wanted, now, inputHash, promote } = observation;
  const { job, active } = status;
  if (job === undefined) return { status, publish: undefined };
  // The same content, held again, keeps its version, because a person may be about to promote that version.
  const isHeldAgain = content.digest !== undefined && content.digest === status.candidate?.digest;
  const version =
    (isHeldAgain ? status.candidate?.version : undefined) ??
    nameVersion(readInstant(job.completionTime) ?? now, content.digest, job.id);
  const rejected = rejectedNow(observation)?.versions;
  const verdict = judge(content, active, wanted.promotion, promote === version, rejected);
  const calm = { ...status, failures: { ...status.failures, export: undefined, poll: undefined } };
  switch (verdict.kind) {
    case 'promote':
      return {
        status: {
          ...published(calm),
          job: { ...job, verdict: 'Promoted', message: undefined },
          candidate: undefined,
        },
        publish: { version, ...content, jobId: subject.jobId, ...times },
      };
    case 'unchanged':
      return confirmActive(
        observation,
        { ...calm, job: { ...job, verdict: 'Unchanged', message: undefined } },
        times,
      );
    case 'reject':
      return {
        status: { ...calm, job: { ...job, verdict: 'Rejected', message: verdict.version } },
        publish: undefined,
      };
    case 'hold':
      return {
        status: {
          ...calm,
          job: { ...job, verdict: 'Held', message: verdict.reason },
          candidate: {
            version,
            ...content,
            jobId: subject.jobId,
            inputHash,
            exportTime: job.completionTime,
            reason: verdict.reason,
          },
        },
        publish: undefined,
      };
    default:
      return verdict satisfies never;
  }
}

/** The content is unchanged, so only the time of the check is new, unless the published job is gone. */
function confirmActive({ now, inputHash }: Observation, status: Status, times: LinkTimes): SubjectSettled {
  const { active, job, failures } = status;
  if (active === undefined || job === undefined) return { status, publish: undefined };
  const checked: Status = {
    ...status,
    active: { ...active, inputHash, lastCheckTime: formatInstant(now) },
    candidate: undefined,
  };
  // If the published job is gone, or belongs to an export API that the spec no longer names, the new job replaces
  // it.
  const hasMoved =
    active.baseUrl !== undefined && job.baseUrl !== undefined && active.baseUrl !== job.baseUrl;
  if (failures?.link?.reason !== 'JobGone' && !hasMoved) return { status: checked, publish: undefined };
  return { status: published(checked), publish: republish(active, job.id, times) };
}

function republish(active: NonNullable<Status['active']>, jobId: string, times: LinkTimes): Publication {
  const { version, digest, pages, sizeBytes } = active;
  return { version, digest, pages, sizeBytes, jobId, ...times };
}

/** A new link is being published, so failures of the old link are cleared. */
function published(status: Status): Status {
  return { ...status, failures: { ...status.failures, link: undefined } };
}

function settlePin(
  observation: Observation,
  subject: Subject,
  content: InspectedContent,
  times: LinkTimes,
): SubjectSettled {
  const { status, now } = observation;
  const { job, active } = status;
  const calm = published({ ...status, failures: { ...status.failures, poll: undefined } });
  if (subject.digest !== undefined && content.digest !== undefined && subject.digest !== content.digest) {
    const changed = longFailure(observation, subject.jobId, 'PinnedContentChanged');
    return { status: { ...status, failures: { ...status.failures, poll: changed } }, publish: undefined };
  }
  if (subject.version === undefined && active?.digest !== undefined && active.digest === content.digest) {
    return {
      status: { ...calm, job: verdictOf(job, subject, 'Unchanged') },
      publish: republish(active, subject.jobId, times),
    };
  }
  const completedAt = job?.id === subject.jobId ? readInstant(job.completionTime) : undefined;
  return {
    status: { ...calm, job: verdictOf(job, subject, 'Promoted') },
    publish: {
      version: subject.version ?? nameVersion(completedAt ?? now, content.digest, subject.jobId),
      digest: content.digest ?? subject.digest,
      pages: content.pages ?? subject.pages,
      sizeBytes: content.sizeBytes ?? subject.sizeBytes,
      jobId: subject.jobId,
      ...times,
    },
  };
}

function verdictOf(
  job: JobStatus | undefined,
  subject: Subject,
  verdict: 'Promoted' | 'Unchanged',
): JobStatus | undefined {
  return job?.id === subject.jobId ? { ...job, verdict, message: undefined } : job;
}

function settleRelease(observation: Observation, subject: Subject, times: LinkTimes): SubjectSettled {
  const { status, now } = observation;
  const { version, digest, pages, sizeBytes, jobId } = subject;
  const publish = {
    version: version ?? nameVersion(now, digest, jobId),
    digest,
    pages,
    sizeBytes,
    jobId,
    ...times,
  };
  const { job } = status;
  // The candidate stays until the Secret names its version, because its stored content is needed until then.
  return {
    status: published({
      ...status,
      job: job?.id === jobId ? { ...job, verdict: 'Promoted', message: undefined } : job,
      failures: { ...status.failures, export: undefined, poll: undefined },
    }),
    publish,
  };
}

function longFailure({ now }: Observation, subject: string, reason: string): Failure {
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
    retryAfterMs: undefined,
    why: failure.message,
  });
  const poll = { ...noted, inspectionFailures };
  if (inspectionFailures < inspectionAttempts[failure.kind]) {
    return { ...status, failures: { ...status.failures, poll } };
  }
  const { job } = status;
  const message = `${failure.code}: ${failure.message}`.slice(0, 256);
  if (job?.id !== subject.jobId) {
    // A version of the history whose archive is now rejected: its content is not what was published.
    const changed = longFailure(observation, subject.jobId, 'PinnedContentChanged');
    return { ...status, failures: { ...status.failures, poll: changed } };
  }
  const rejected: Status = {
    ...status,
    job: { ...job, verdict: 'BundleRejected', message },
    failures: { ...status.failures, poll: undefined },
  };
  return exportFailed(observation, rejected, 'BundleRejected');
}
