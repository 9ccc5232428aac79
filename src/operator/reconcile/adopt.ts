// Updates the remembered status from the output Secret and the time, before anything is decided: a publication whose status
// write was lost, a job past its timeout or under other rules, an unconfirmed start record, a skipped tick. A reconcile calls it once after reading
// and once after acting. Invariant: adopting twice is adopting once.

import {
  type Failure,
  type JobStatus,
  maxRejected,
  type Status,
  type Verdict,
} from '#operator/staticexport/status-schema.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import { activeVersion } from './active-version.ts';
import { waitMs } from './backoff.ts';
import { isUnanswered } from './failure-policy.ts';
import { freeOperations, heldAgainst } from './forbidden-call.ts';
import { isPinned, recordVersion } from './history.ts';
import { recordHook } from './hooks.ts';
import { clockToleranceMs } from './link-timing.ts';
import { isOfOtherRules, isUnrepeatable, needsLink } from './mirror.ts';
import { type Observation, rejectedNow } from './observation.ts';
import { dueTick, readSchedule } from './schedule.ts';
import { issuerOf } from './state.ts';

/** How often a start record is sent: once, and two retries. */
export const maxStartAttempts = 3;
const resendGraceMs = 30_000;

/** The observation with its status updated to what is true now. */
export function adopt(observation: Observation): Observation {
  let seen = observation;
  for (const step of [
    adoptPublished,
    adoptRefresh,
    followPin,
    dropStale,
    judgeAgain,
    rejectCandidate,
    freeOperations,
    endStartRecord,
    endJob,
    setTick,
    recordHook,
  ]) {
    seen = { ...seen, status: step(seen) };
  }
  return seen;
}

/** When an unconfirmed start record may be sent again, epoch ms. If its time is in the future, at once. */
export function resendTime(
  record: { readonly lastAttemptTime: string },
  now: number,
  requestTimeoutMs: number,
): number {
  const at = readInstant(record.lastAttemptTime) ?? 0;
  return at > now + clockToleranceMs ? now : at + resendWaitMs(requestTimeoutMs);
}

/** By then an answer that still comes has come. */
export const resendWaitMs = (requestTimeoutMs: number): number => requestTimeoutMs + resendGraceMs;

/** The next failure of the export operation, with its wait. */
export function nextExportFailure(
  observation: Observation,
  failed: {
    readonly reason: string;
    readonly request?: string | undefined;
    readonly retryAfterMs?: number | undefined;
    readonly requestId?: string | undefined;
    readonly message?: string | undefined;
    readonly said?: string | undefined;
  },
): Failure {
  const { status, now, inputHash, isAwaited = false } = observation;
  const before = status.failures?.export;
  const count = (before?.count ?? 0) + 1;
  const wait = waitMs(isAwaited ? 'poll' : 'export', count, failed.retryAfterMs);
  return {
    ...heldAgainst(observation, failed.reason),
    count,
    lastFailureTime: formatInstant(now),
    retryTime: formatInstant(now + wait),
    reason: failed.reason,
    message: failed.message,
    said: failed.said,
    requestId: failed.requestId,
    subject: inputHash,
    request: failed.request ?? before?.request,
  };
}

/**
 * True if the Secret names another publication than status. Either a status write was lost, or the read returned an
 * old Secret. The read alone cannot distinguish them.
 */
export function isUnknownToStatus({ status, output }: Observation): boolean {
  const { active } = status;
  const published = output.kind === 'ours' ? output.published : undefined;
  if (published === undefined || active === undefined) return false;
  return published.version !== active.version || published.jobId !== active.jobId;
}

function adoptPublished(observation: Observation): Status {
  const { status, output, wanted, now } = observation;
  // An unreadable Secret says nothing, so status is the only source.
  if (output.kind === 'unreadable') return status;
  const published = output.kind === 'ours' ? output.published : undefined;
  if (published === undefined) {
    const active = status.active && {
      ...status.active,
      linkIssueTime: undefined,
      linkExpirationTime: undefined,
    };
    return active === undefined ? status : { ...status, active };
  }
  const active = activeVersion(status, published, now);
  const {
    linkIssueTime: _issued,
    linkExpirationTime: _expires,
    lastCheckTime: _checked,
    mirrorCheckTime: _mirrored,
    copyLossTime: _lost,
    ...entry
  } = active;
  const { job, candidate } = status;
  const isJudged =
    job !== undefined &&
    job.id === published.jobId &&
    job.completionTime !== undefined &&
    // Under other rules its archive is yet to be judged.
    published.repair === wanted.repair &&
    !isUnrepeatable({ ...observation, status: { ...status, active } });
  const { repair, repairRevision } = active;
  return {
    ...status,
    active,
    job:
      isJudged && job.verdict === undefined ? { ...job, verdict: 'Promoted', repair, repairRevision } : job,
    candidate: candidate?.version === active.version ? undefined : candidate,
    history: [...recordVersion(status.history ?? [], entry, wanted.historyLimit, wanted.pin)],
  };
}

/** A link was published for the request, and the status write was lost; or there is no link to refresh. */
function adoptRefresh(observation: Observation): Status {
  const { status, refreshRequest, process } = observation;
  if (refreshRequest === undefined) return status;
  const isAnswered = process.refresh?.isPublished === true && process.refresh.token === refreshRequest;
  return isAnswered || !needsLink(observation) ? { ...status, lastHandledRefresh: refreshRequest } : status;
}

/** Tracks a pinned job of another origin like the resource's own job, and forgets it when the pin is removed. */
function followPin({ status, wanted, now, inputHash }: Observation): Status {
  const { job } = status;
  const jobId = wanted.pin?.jobId;
  if (jobId === undefined) {
    return job?.cause === 'Pin' && job.verdict === undefined ? { ...status, job: undefined } : status;
  }
  // A suspended resource does not poll, so its job must not time out meanwhile.
  if (wanted.isSuspended) return status;
  const isKnown = [status.active, ...(status.history ?? [])].some((one) => one?.jobId === jobId);
  if (isKnown) return status;
  // Polls ask the export API that the spec names now, so it is the one that has the job.
  const polled = (one: JobStatus): JobStatus =>
    one.completionTime === undefined ? { ...one, ...issuerOf(undefined, wanted) } : one;
  if (job?.id === jobId && job.cause === 'Pin') return { ...status, job: polled(job) };
  const followed: JobStatus =
    job?.id === jobId
      ? {
          ...job,
          cause: 'Pin',
          verdict: job.verdict === 'JobFailed' ? job.verdict : undefined,
          message: undefined,
        }
      : {
          id: jobId,
          cause: 'Pin',
          inputHash,
          // Nothing names the path of a job that was started elsewhere, so it is taken for the one that the spec names.
          basePath: wanted.project?.basePath,
          startTime: formatInstant(now),
        };
  return { ...status, job: polled(followed), start: undefined };
}

/** Drops what was begun for other inputs. */
function dropStale({ status, inputHash }: Observation): Status {
  const { job, start, candidate, failures } = status;
  const isJobStale =
    job !== undefined && job.verdict === undefined && job.cause !== 'Pin' && job.inputHash !== inputHash;
  const isCandidateStale = candidate?.inputHash !== undefined && candidate.inputHash !== inputHash;
  const isStale = (one: Failure | undefined): boolean =>
    one?.subject !== undefined && one.subject !== inputHash;
  const [isFailureStale, isWaitStale] = [isStale(failures?.export), isStale(failures?.start)];
  return {
    ...status,
    job: isJobStale ? undefined : job,
    start: start?.inputHash === inputHash ? start : undefined,
    candidate: isCandidateStale ? undefined : candidate,
    failures:
      isFailureStale || isWaitStale
        ? {
            ...failures,
            ...(isFailureStale && { export: undefined }),
            ...(isWaitStale && { start: undefined }),
          }
        : failures,
  };
}

/**
 * Under other rules of a repair, the archive of the last job is another content. Its next version has a time of its own, so
 * that versions stay in order. Other revisions of the same rules matter only once the published content is nowhere else.
 */
function judgeAgain(observation: Observation): Status {
  const { status, wanted, inputHash, now } = observation;
  const { job, candidate, active } = status;
  const isFollowed = job !== undefined && job.cause !== 'Pin' && wanted.pin === undefined;
  if (!isFollowed || wanted.isSuspended) return status;
  const isJudged = job.verdict !== undefined && judgedVerdicts.includes(job.verdict);
  if (!isJudged || job.inputHash !== inputHash) return status;
  const isLost = isUnrepeatable(observation);
  const isRemade = isLost && isOfOtherRules(job, observation);
  if (job.repair === wanted.repair && !isRemade) return status;
  const isPublishedSo = active?.jobId === job.id && active.repair === wanted.repair && !isLost;
  const judged: Partial<JobStatus> = isPublishedSo
    ? { verdict: 'Promoted', repair: active.repair, repairRevision: active.repairRevision }
    : { verdict: undefined, repairTime: formatInstant(now) };
  return {
    ...status,
    job: { ...job, ...judged, message: undefined, report: undefined },
    candidate: candidate?.jobId === job.id ? undefined : candidate,
  };
}

/** Those of a job whose archive was read. */
const judgedVerdicts: readonly Verdict[] = ['Promoted', 'Unchanged', 'Held', 'Rejected', 'BundleRejected'];

/** Drops the candidate that the annotation names, and rejections that no longer hold. */
function rejectCandidate(observation: Observation): Status {
  const { status, reject, generation, inputHash, now } = observation;
  const { candidate, job } = status;
  const rejected = rejectedNow(observation);
  if (candidate === undefined || candidate.version !== reject) return { ...status, rejected };
  const { version, digest, jobId } = candidate;
  const entry = { version, digest, rejectionTime: formatInstant(now) };
  const isTracked = job?.id === jobId && job.verdict === 'Held';
  return {
    ...status,
    candidate: undefined,
    job: isTracked ? { ...job, verdict: 'Rejected', message: version } : job,
    rejected: {
      generation,
      inputHash,
      request: status.lastHandledRequest,
      versions: [entry, ...(rejected?.versions ?? [])].slice(0, maxRejected),
    },
  };
}

function endStartRecord(observation: Observation): Status {
  const { status, now, requestTimeoutMs, wanted } = observation;
  const { start } = status;
  if (
    start === undefined ||
    start.attempts < maxStartAttempts ||
    wanted.isSuspended ||
    wanted.pin !== undefined
  )
    return status;
  if (resendTime(start, now, requestTimeoutMs) > now) return status;
  // Why the last attempt was lost stays known. Without an answer in status, the operator stopped before it came.
  const last = status.failures?.export;
  const why = last !== undefined && isUnanswered(last.reason) ? last : { reason: 'StartUnconfirmed' };
  const { reason, message, said, requestId } = {
    message: undefined,
    said: undefined,
    requestId: undefined,
    ...why,
  };
  const failure = nextExportFailure(observation, {
    reason,
    message,
    said,
    requestId,
    request: start.request,
  });
  return { ...status, start: undefined, failures: { ...status.failures, export: failure } };
}

/** When a job counts as failed, epoch ms. */
export function timeoutTime(job: JobStatus, now: number, jobTimeoutMs: number): number {
  return (readInstant(job.startTime) ?? now) + jobTimeoutMs;
}

function endJob(observation: Observation): Status {
  const { status, now, wanted } = observation;
  const { job } = status;
  if (job === undefined || job.verdict !== undefined || job.completionTime !== undefined) return status;
  // While a pin is set, no other job is polled, so that job must not time out meanwhile.
  if (wanted.pin !== undefined && job.cause !== 'Pin') return status;
  const followed = job.startTime === undefined ? { ...job, startTime: formatInstant(now) } : job;
  if (timeoutTime(followed, now, wanted.jobTimeoutMs) > now) return { ...status, job: followed };
  const failure = nextExportFailure(observation, { reason: 'TimedOut' });
  return {
    ...status,
    job: { ...followed, verdict: 'TimedOut' },
    failures: isPinned({ version: '', jobId: job.id }, wanted.pin)
      ? status.failures
      : { ...status.failures, export: failure },
  };
}

function setTick({ status, wanted, now }: Observation): Status {
  const isBusy = status.job !== undefined && status.job.verdict === undefined;
  const schedule = readSchedule(wanted.schedule, wanted.timeZone);
  const tick = dueTick(schedule, readInstant(status.nextExportTime), now, isBusy);
  return { ...status, nextExportTime: tick === undefined ? undefined : formatInstant(tick) };
}
