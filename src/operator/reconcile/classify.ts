// Turns an (adopted) observation into its named state: access, and one state per operation. Pure. The rules for
// starting an export and for the refresh of a link are here; choose.ts decides the action.

import type { ExportCause, Failure, HistoryEntry, JobStatus } from '#operator/staticexport/status-schema.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { classifyAccess, rateLimitTime } from './access.ts';
import { resendTime, timeoutTime } from './adopt.ts';
import { boundByExpiry, retryTime } from './backoff.ts';
import { isPinned } from './history.ts';
import { dueHook } from './hooks.ts';
import { isFromTheFuture, refreshTime } from './link-timing.ts';
import { classifyMirror, isUnrepeatable, needsLink } from './mirror.ts';
import {
  isOutputTaken,
  type Observation,
  pendingRefresh,
  pendingRequest,
  publishedTimes,
  rejectedNow,
  unreadOutput,
} from './observation.ts';
import { pollTime } from './poll.ts';
import { readSchedule } from './schedule.ts';
import type { StartDelay } from './start-budget.ts';
import type { ExportState, HeldReason, LinkState, State, Subject, Want } from './state.ts';

/** How long after its timeout a job is still polled. */
const lateMs = 24 * 3_600_000;

/** @param observation already adopted */
export function classify(observation: Observation): State {
  return {
    access: classifyAccess(observation),
    export: classifyExport(observation),
    link: classifyLink(observation),
    want: classifyWant(observation),
    mirror: classifyMirror(observation),
  };
}

function classifyWant({ status, wanted, inputHash }: Observation): Want {
  const { active, job, failures } = status;
  if (wanted.pin === undefined) {
    if (active === undefined) return { kind: 'first' };
    return hasInputs(active, wanted, inputHash) ? { kind: 'satisfied' } : { kind: 'inputs' };
  }
  if (active !== undefined && isPinned(active, wanted.pin)) {
    return failures?.link?.reason === 'JobGone'
      ? { kind: 'impossible', reason: 'PinnedJobGone' }
      : { kind: 'satisfied' };
  }
  const entry = pinnedEntry(status.history, wanted);
  const jobId = entry?.jobId ?? wanted.pin.jobId;
  if (jobId === undefined) return { kind: 'impossible', reason: 'PinnedVersionUnknown' };
  const problem = failures?.poll?.subject === jobId ? failures.poll.reason : undefined;
  if (problem === 'PinnedJobGone' || problem === 'PinnedContentChanged')
    return { kind: 'impossible', reason: problem };
  const isFailed = entry === undefined && job?.id === jobId && job.verdict !== undefined;
  return isFailed ? { kind: 'impossible', reason: 'PinnedJobFailed' } : { kind: 'pin' };
}

/** True if the version is what an export with the inputs of the spec would be, and was repaired as the spec says. */
function hasInputs(
  active: Observation['status']['active'],
  { repair }: Observation['wanted'],
  inputHash: string,
): boolean {
  return active?.inputHash === inputHash && active.repair === repair;
}

function pinnedEntry(
  history: readonly HistoryEntry[] | undefined,
  { pin }: Observation['wanted'],
): HistoryEntry | undefined {
  return history?.find((entry) => isPinned(entry, pin));
}

function classifyExport(observation: Observation): ExportState {
  const { status, wanted, promote } = observation;
  if (isOutputTaken(observation)) return { kind: 'held', why: 'OutputNotOwned' };
  if (unreadOutput(observation) !== undefined) return { kind: 'held', why: 'OutputUnreadable' };
  if (wanted.pin !== undefined) return classifyPinned(observation);
  const { job, start, candidate } = status;
  if (job !== undefined && job.verdict === undefined) return followJob(observation, job, 'job');
  const hold = holdOnStart(observation);
  if (start !== undefined && hold === undefined) {
    return { kind: 'unconfirmed', record: start, resendAt: resendAt(observation, start) };
  }
  if (candidate !== undefined && promote === candidate.version && !wanted.isSuspended) {
    return complete(observation, storedSubject(candidate, 'release'));
  }
  const next = hold === undefined ? classifyStart(observation) : ({ kind: 'held', why: hold } as const);
  return job !== undefined && isLate(observation, job) && next.kind !== 'due'
    ? { kind: 'late', jobId: job.id, pollAt: pollTime(observation, job), next }
    : next;
}

/** True past the job's timeout, until the job is too old to be useful. */
function isLate({ now, wanted }: Observation, job: JobStatus): boolean {
  return job.verdict === 'TimedOut' && timeoutTime(job, now, wanted.jobTimeoutMs) + lateMs > now;
}

function resendAt(observation: Observation, record: { readonly lastAttemptTime: string }): number {
  const { now, requestTimeoutMs, status } = observation;
  return Math.max(
    resendTime(record, now, requestTimeoutMs),
    retryTime(status.failures?.export, now) ?? 0,
    retryTime(status.failures?.start, now) ?? 0,
    rateLimitTime(observation) ?? 0,
  );
}

function holdOnStart({ wanted }: Observation): HeldReason | undefined {
  if (wanted.isSuspended) return 'Suspended';
  return readSchedule(wanted.schedule, wanted.timeZone).kind === 'invalid' ? 'InvalidSchedule' : undefined;
}

/** Until the job has a verdict, it is polled. Then it becomes the next subject to publish. */
function followJob(observation: Observation, job: JobStatus, cause: 'job' | 'pin'): ExportState {
  const { now, wanted } = observation;
  if (job.completionTime === undefined) {
    return {
      kind: 'running',
      jobId: job.id,
      pollAt: pollTime(observation, job),
      timeoutAt: timeoutTime(job, now, wanted.jobTimeoutMs),
    };
  }
  if (wanted.isSuspended) return { kind: 'held', why: 'Suspended' };
  const { baseUrl, projectId, basePath } = job;
  const issuer = cause === 'pin' && { baseUrl, projectId };
  const { repair } = wanted;
  return complete(observation, { jobId: job.id, cause, basePath, repair, ...issuer });
}

function complete(observation: Observation, subject: Subject): ExportState {
  const { failures } = observation.status;
  const failure = failures?.poll?.subject === subject.jobId ? failures.poll : undefined;
  const notBefore = Math.max(retryTime(failure, observation.now) ?? 0, rateLimitTime(observation) ?? 0);
  return { kind: 'complete', subject, notBefore };
}

/** A version of the history, or a candidate, with the fields that its next publication needs. */
function storedSubject(
  {
    jobId,
    version,
    digest,
    ref,
    baseUrl,
    projectId,
    basePath,
    repair,
    repairRevision,
    pages,
    sizeBytes,
  }: Omit<Subject, 'cause'>,
  cause: Subject['cause'],
): Subject {
  const made = { baseUrl, projectId, basePath, repair, repairRevision };
  return { jobId, cause, version, digest, ref, ...made, pages, sizeBytes };
}

function classifyPinned(observation: Observation): ExportState {
  const { status, wanted } = observation;
  const { active, job } = status;
  if (active !== undefined && isPinned(active, wanted.pin)) return { kind: 'held', why: 'Pinned' };
  if (wanted.isSuspended) return { kind: 'held', why: 'Suspended' };
  const entry = pinnedEntry(status.history, wanted);
  if (entry !== undefined) return complete(observation, storedSubject(entry, 'pin'));
  const held = { kind: 'held', why: 'Pinned' } as const;
  if (job === undefined || job.cause !== 'Pin' || job.id !== wanted.pin?.jobId) return held;
  if (isLate(observation, job))
    return { kind: 'late', jobId: job.id, pollAt: pollTime(observation, job), next: held };
  if (job.verdict !== undefined) return held;
  return followJob(observation, job, 'pin');
}

/** The cause of a new export. If several apply, the first in this order is reported. */
function startCause(observation: Observation): ExportCause | undefined {
  const { status, wanted, inputHash, now } = observation;
  const { active, candidate, job, failures } = status;
  const tick = readInstant(status.nextExportTime);
  if (pendingRequest(observation) !== undefined) return 'Request';
  if (job?.verdict === 'JobLost' && job.cause !== 'JobLost') return 'JobLost';
  // A held or rejected candidate is this resource's export. Only a person or a newer trigger replaces it.
  const isExported = candidate !== undefined || rejectedNow(observation) !== undefined;
  if (!isExported && active === undefined) return 'First';
  if (!isExported && !hasInputs(active, wanted, inputHash)) return 'Inputs';
  if (!isExported && isUnrepeatable(observation)) return 'Rules';
  // Until an export is published again, or a gate or a rejection withholds the one that this loss started.
  const isReplaced = candidate !== undefined || (job?.cause === 'JobGone' && job.verdict === 'Rejected');
  if (!isReplaced && failures?.link?.reason === 'JobGone') return 'JobGone';
  if (dueHook(observation) !== undefined) return 'Hook';
  return tick !== undefined && tick <= now ? 'Schedule' : undefined;
}

function classifyStart(observation: Observation): ExportState {
  const cause = startCause(observation);
  if (cause === undefined) return { kind: 'resting' };
  const { export: failure, start: waiting } = observation.status.failures ?? {};
  const request = pendingRequest(observation);
  const hasFreeTry = (one: Failure | undefined): boolean => request !== undefined && one?.request !== request;
  const [backoff, wait] = [failure, waiting].map((one) =>
    hasFreeTry(one) ? undefined : retryTime(one, observation.now),
  );
  const isSpread = waiting?.reason === ('StartsSpread' satisfies StartDelay['code']);
  const isHeldUp = !isSpread || cause === 'Schedule';
  const until = Math.max(backoff ?? 0, (isHeldUp ? wait : undefined) ?? 0, rateLimitTime(observation) ?? 0);
  return until > observation.now ? { kind: 'waiting', cause, until } : { kind: 'due', cause };
}

function classifyLink(observation: Observation): LinkState {
  const { status, output, now, uid, wanted } = observation;
  const { active, failures } = status;
  if (active === undefined || output.kind === 'foreign') return { kind: 'none' };
  if (!needsLink(observation)) return { kind: 'unused' };
  if (output.kind === 'unreadable') {
    return { kind: 'unreadable', isExpired: (publishedTimes(observation)?.expiresAt ?? 0) <= now };
  }
  const published = output.kind === 'ours' ? output.published?.link : undefined;
  const expiresAt = published?.expiresAt ?? 0;
  const isExpired = expiresAt <= now;
  const requested = pendingRefresh(observation);
  // The first attempt waits for nothing but a rate limit; its failure has the usual back-off.
  const hasFreeTry = requested !== undefined && observation.process.refresh?.token !== requested;
  const retryAt = hasFreeTry ? undefined : retryTime(failures?.link, now);
  const until = Math.max(
    retryAt === undefined
      ? 0
      : boundByExpiry(retryAt, readInstant(failures?.link?.lastFailureTime) ?? 0, expiresAt),
    boundByExpiry(rateLimitTime(observation) ?? 0, observation.rateLimit.closedAt ?? 0, expiresAt),
    // The minimum interval between two links holds for expired links too.
    published === undefined || isFromTheFuture(published, now) || hasFreeTry
      ? 0
      : published.issuedAt + wanted.minIntervalMs,
  );
  const { jobId } = active;
  if (failures?.link?.reason === 'JobGone') {
    return {
      kind: 'unissuable',
      jobId,
      until: Math.max(retryAt ?? 0, rateLimitTime(observation) ?? 0),
      isExpired,
    };
  }
  if (!isExpired && requested === undefined && published !== undefined && !isFromTheFuture(published, now)) {
    const refreshAt = refreshTime(uid, published, wanted);
    if (refreshAt > now) return { kind: 'fresh', refreshAt };
  }
  if (until > now) return { kind: 'waiting', jobId, until, isExpired };
  if (!isExpired) return { kind: 'due', jobId };
  return { kind: 'expired', jobId };
}
