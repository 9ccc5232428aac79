// Decides about a complete export after its archive was inspected: published, unchanged, held by a promotion gate,
// or rejected. Pinned versions and promoted candidates skip the gates, but their content must match.

import type { Failure, JobStatus, Status } from '#operator/staticexport/status-schema.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { LinkTimes, Publication } from '#platform/wire/publication.ts';
import { callPolicies, goneRetryMs, inspectionAttempts } from '../failure-policy.ts';
import { type Observation, rejectedNow } from '../observation.ts';
import type { CallFailure, InspectedContent, InspectionFailure } from '../result.ts';
import type { Subject } from '../state.ts';
import { exportFailed, recordFailure } from './failed-call.ts';
import { linkBeside, republish, withCopy } from './mirrored.ts';
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
  times: LinkTimes | undefined,
): SubjectSettled {
  switch (subject.cause) {
    case 'job':
      return settleJob(observation, subject, content, times);
    case 'pin':
      return settlePin(observation, subject, content, times);
    case 'release':
      return settleRelease(observation, subject, content, times);
    default:
      return subject.cause satisfies never;
  }
}

function settleJob(
  observation: Observation,
  subject: Subject,
  content: InspectedContent,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { status, wanted, now, inputHash, promote } = observation;
  const { job, active } = status;
  if (job === undefined) return { status, publish: undefined };
  // The same content keeps its version. Held again, because a person may be about to promote that version.
  const named = [status.candidate, observation.baseline?.last].find(
    (one) => content.digest !== undefined && one?.digest === content.digest,
  );
  const version =
    named?.version ?? nameVersion(readInstant(job.completionTime) ?? now, content.digest, job.id);
  const rejected = rejectedNow(observation)?.versions;
  const known = active ?? observation.baseline?.content;
  const verdict = judge(content, known, wanted.promotion, promote === version, rejected);
  const calm = { ...status, failures: { ...status.failures, export: undefined, poll: undefined } };
  const { notes: _, ...kept } = content;
  switch (verdict.kind) {
    case 'promote':
    case 'unchanged': {
      const ended = verdict.kind === 'promote' ? 'Promoted' : 'Unchanged';
      const judged: Status = { ...calm, job: { ...job, verdict: ended, message: undefined } };
      // The content of a baseline is published elsewhere, and here for the first time.
      return verdict.kind === 'unchanged' && active !== undefined
        ? confirmActive(observation, judged, content, times)
        : {
            status: { ...published(judged), candidate: undefined },
            publish: publication(observation, subject, version, content, times),
          };
    }
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
            ...kept,
            jobId: subject.jobId,
            ...(subject.basePath !== undefined && { basePath: subject.basePath }),
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
function confirmActive(
  observation: Observation,
  status: Status,
  { ref }: InspectedContent,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { now, inputHash } = observation;
  const { job, failures } = status;
  const hasNewCopy = ref !== undefined && ref !== status.active?.ref;
  const active =
    ref === undefined || status.active === undefined ? status.active : withCopy(status.active, ref, now);
  if (active === undefined || job === undefined) return { status, publish: undefined };
  const checked: Status = {
    ...status,
    active: { ...active, inputHash, lastCheckTime: formatInstant(now) },
    candidate: undefined,
  };
  // If the published job is gone, has another base path, or belongs to an export API that the spec no longer names, the new
  // job replaces it.
  const { basePath = active.basePath } = job;
  const isElsewhere =
    active.baseUrl !== undefined &&
    job.baseUrl !== undefined &&
    (active.baseUrl !== job.baseUrl || active.projectId !== job.projectId);
  const hasMoved = isElsewhere || active.basePath !== basePath;
  if (failures?.link?.reason !== 'JobGone' && !hasMoved && !hasNewCopy)
    return { status: checked, publish: undefined };
  const link = linkBeside(active.ref, times, observation);
  return { status: published(checked), publish: republish({ ...active, basePath }, job.id, link) };
}

function publication(
  observation: Observation,
  { jobId, basePath }: Pick<Subject, 'jobId' | 'basePath'>,
  version: string,
  { digest, pages, sizeBytes, ref }: InspectedContent,
  times: LinkTimes | undefined,
): Publication {
  const path = basePath !== undefined && { basePath };
  const link = linkBeside(ref, times, observation);
  return { version, digest, pages, sizeBytes, ref, ...path, jobId, link };
}

/** A new link is being published, so failures of the old link are cleared. */
function published(status: Status): Status {
  return { ...status, failures: { ...status.failures, link: undefined } };
}

function settlePin(
  observation: Observation,
  subject: Subject,
  content: InspectedContent,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { status, now } = observation;
  const { job, active } = status;
  const calm = published({ ...status, failures: { ...status.failures, poll: undefined } });
  const known = knownContent(content, subject);
  if (subject.digest !== undefined && content.digest !== undefined && subject.digest !== content.digest) {
    const changed = longFailure(observation, subject.jobId, 'PinnedContentChanged');
    return { status: { ...status, failures: { ...status.failures, poll: changed } }, publish: undefined };
  }
  if (subject.version === undefined && active?.digest !== undefined && active.digest === content.digest) {
    return {
      status: { ...calm, job: verdictOf(job, subject, 'Unchanged') },
      publish: publication(
        observation,
        { jobId: subject.jobId, basePath: subject.basePath ?? active.basePath },
        active.version,
        { ...contentOf(active), ref: known.ref ?? active.ref },
        times,
      ),
    };
  }
  const completedAt = job?.id === subject.jobId ? readInstant(job.completionTime) : undefined;
  return {
    status: { ...calm, job: verdictOf(job, subject, 'Promoted') },
    publish: publication(
      observation,
      subject,
      subject.version ?? nameVersion(completedAt ?? now, content.digest, subject.jobId),
      known,
      times,
    ),
  };
}

function contentOf({ digest, pages, sizeBytes, ref }: Omit<Subject, 'cause'>): InspectedContent {
  return { digest, pages, sizeBytes, ref };
}

/** What the inspection found, and what is remembered of the version otherwise. */
function knownContent(content: InspectedContent, subject: Subject): InspectedContent {
  return {
    digest: content.digest ?? subject.digest,
    pages: content.pages ?? subject.pages,
    sizeBytes: content.sizeBytes ?? subject.sizeBytes,
    ref: content.ref ?? subject.ref,
  };
}

function verdictOf(
  job: JobStatus | undefined,
  subject: Subject,
  verdict: 'Promoted' | 'Unchanged',
): JobStatus | undefined {
  return job?.id === subject.jobId ? { ...job, verdict, message: undefined } : job;
}

function settleRelease(
  observation: Observation,
  subject: Subject,
  content: InspectedContent,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { status, now } = observation;
  const { jobId } = subject;
  const version = subject.version ?? nameVersion(now, subject.digest, jobId);
  const publish = publication(observation, subject, version, knownContent(content, subject), times);
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
    retryAfterMs: failure.retryAfterMs,
    why: failure.message,
  });
  const poll = { ...noted, inspectionFailures };
  if (inspectionFailures < inspectionAttempts[failure.kind]) {
    return { ...status, failures: { ...status.failures, poll } };
  }
  const { job } = status;
  const message = printable(`${failure.code}: ${failure.message}`, 256);
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
