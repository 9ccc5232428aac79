// Updates the remembered status with an action's result, and decides whether to publish. Pure: the counterpart of
// choose. One function per result; failures are in failed-call.ts, subjects in subject.ts. Invariant: a
// result never withdraws what is published.

import type { Status } from '#operator/staticexport/status-schema.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import type { LinkTimes, Publication } from '#platform/wire/publication.ts';
import { needsInspection } from '../choose.ts';
import { callPolicies } from '../failure-policy.ts';
import { answerHook } from '../hooks.ts';
import { isFresher, isFromTheFuture, isValidLongEnough, retryAfterStale } from '../link-timing.ts';
import { type Observation, pendingRefresh } from '../observation.ts';
import type { ActionResult, CallFailure, RateLimitChange } from '../result.ts';
import { dueTick, readSchedule } from '../schedule.ts';
import { issuerOf, type Plan, type Subject } from '../state.ts';
import {
  callFailed,
  exportFailed,
  paced,
  recordFailure,
  refreshFailed,
  startDelayed,
  startFailed,
} from './failed-call.ts';
import { republish, settleCopied, settleCopyFailure, settleLooked, settleMirrorFailure } from './mirrored.ts';
import { settleSubject } from './subject.ts';
import { inspectFailed, subjectLinkFailed } from './subject-failure.ts';

/** The limit of the status schema. The export API does not limit its text. */
const maxStateLength = 64;

type Issued = Extract<ActionResult, { kind: 'issued' }>;

export interface Settled {
  readonly status: Status;
  readonly publish: Publication | undefined;
  readonly rateLimit: RateLimitChange;
}

/** @param before the adopted observation from which the plan was made */
export function settle(before: Observation, plan: Plan, result: ActionResult): Settled {
  const observation = withStart(before, result);
  const settled = settleResult(observation, plan, result);
  const { status, refreshRequest } = observation;
  if (settled.publish === undefined || status.active !== undefined || refreshRequest === undefined)
    return settled;
  // Before the first publication there was no link to replace.
  return { ...settled, status: { ...settled.status, lastHandledRefresh: refreshRequest } };
}

/** A start counts, whatever came of its job. */
function withStart(observation: Observation, result: ActionResult): Observation {
  if (!('startTimes' in result)) return observation;
  const { startTimes } = result;
  return { ...observation, status: { ...observation.status, startTimes } };
}

function settleResult(observation: Observation, plan: Plan, result: ActionResult): Settled {
  const { status } = observation;
  switch (result.kind) {
    case 'none':
    case 'inspecting':
    case 'mirror-working':
      return kept(status);
    case 'started':
      return answered(settleStarted(observation, result));
    case 'polled':
      return answered(settlePolled(observation, result));
    case 'issued':
      return settleIssued(observation, plan, result);
    case 'inspected':
      return {
        ...settleInspected(observation, subjectOf(plan), result),
        rateLimit: { kind: 'keep' },
      };
    case 'copy-failed':
      return kept(settleCopyFailure(observation, subjectOf(plan).jobId, result.failure));
    case 'mirror-looked':
      return { ...settleLooked(observation, result), rateLimit: { kind: 'keep' } };
    case 'mirror-copied':
      return { ...settleCopied(observation, result), rateLimit: { kind: 'keep' } };
    case 'mirror-failed':
      return kept(settleMirrorFailure(observation, result.failure));
    case 'inspect-failed':
      return kept(inspectFailed(observation, subjectOf(plan), result.failure));
    case 'start-delayed':
      return kept(startDelayed(observation, result));
    case 'start-failed':
    case 'poll-failed':
    case 'issue-failed': {
      const failure = paced(result.failure);
      const next = operationFailed(observation, plan, { ...result, failure });
      // A refusal by another export API says nothing about the key at this one.
      if (isElsewhere(observation, plan)) return kept(next);
      // By project, 429 for a start is about starts alone: jobs are polled and links are refreshed all the same.
      const limitsStarts = result.kind === 'start-failed' && observation.wanted.project !== undefined;
      if (limitsStarts && failure.code === 'RateLimited') return kept(next);
      return callFailed(observation, failure, next);
    }
    default:
      return result satisfies never;
  }
}

/** True if the export API that made the job must issue the link, and the spec now names another export API. */
function isElsewhere({ wanted }: Observation, { action }: Plan): boolean {
  if (action.kind !== 'issue') return false;
  const { baseUrl, projectId } = issuerOf(undefined, wanted);
  return action.issuer.baseUrl !== baseUrl || action.issuer.projectId !== projectId;
}

function operationFailed(
  observation: Observation,
  plan: Plan,
  result: Extract<ActionResult, { readonly failure: CallFailure }>,
): Status {
  switch (result.kind) {
    case 'start-failed':
      return startFailed(observation, result.record, result.failure);
    case 'poll-failed':
      return pollFailed(observation, result.failure);
    case 'issue-failed':
      if (plan.action.kind === 'issue' && plan.action.cause === 'mirror') {
        const { code, why, retryAfterMs } = result.failure;
        const message = `No link for copying again: ${why ?? code}.`;
        return settleMirrorFailure(observation, { code, message, retryAfterMs });
      }
      return plan.action.kind === 'issue' && plan.action.cause === 'refresh'
        ? refreshFailed(observation, result.failure)
        : subjectLinkFailed(observation, subjectOf(plan), result.failure);
    default:
      return result satisfies never;
  }
}

/**
 * A publication could not be written. Only the failure and its wait are stored.
 *
 * @param why the refusal of the Kubernetes API server, safe to publish
 */
export function outputRefused(observation: Observation, plan: Plan, why: string): Status {
  const failure: CallFailure = { code: 'OutputWriteFailed', retryAfterMs: undefined, why };
  const { status } = observation;
  if (plan.action.kind === 'issue' && plan.action.cause === 'refresh')
    return refreshFailed(observation, failure);
  if (plan.action.kind === 'mirror')
    return settleMirrorFailure(observation, { code: failure.code, message: why, retryAfterMs: undefined });
  const poll = recordFailure(observation, 'poll', subjectOf(plan).jobId, failure);
  return { ...status, failures: { ...status.failures, poll } };
}

/** Nothing to publish, and no news of the key. */
function kept(status: Status): Settled {
  return { status, publish: undefined, rateLimit: { kind: 'keep' } };
}

/** Any successful answer clears the key's refusal. */
function answered(status: Status, publish?: Publication): Settled {
  return { status: { ...status, refusedKey: undefined }, publish, rateLimit: { kind: 'open' } };
}

function settleStarted(
  { status, wanted, now }: Observation,
  { record, jobId }: Extract<ActionResult, { kind: 'started' }>,
): Status {
  const schedule = readSchedule(wanted.schedule, wanted.timeZone);
  const tick = dueTick(schedule, undefined, now, true);
  return {
    ...status,
    start: undefined,
    job: {
      id: jobId,
      inputHash: record.inputHash,
      ...issuerOf(undefined, wanted),
      ...(wanted.project?.basePath !== undefined && { basePath: wanted.project.basePath }),
      cause: record.cause,
      requestTime: record.lastAttemptTime,
      startTime: formatInstant(now),
    },
    lastHandledRequest: record.request ?? status.lastHandledRequest,
    ...answerHook(status, record),
    nextExportTime: tick === undefined ? undefined : formatInstant(tick),
    failures: { ...status.failures, start: undefined, poll: undefined },
  };
}

function settlePolled(observation: Observation, report: Extract<ActionResult, { kind: 'polled' }>): Status {
  const { status, now } = observation;
  if (status.job === undefined) return status;
  const seen = {
    ...status.job,
    state: report.state.slice(0, maxStateLength),
    progress:
      report.progress === undefined ? undefined : Math.round(Math.min(100, Math.max(0, report.progress))),
    pageCount: report.pageCount === undefined ? undefined : Math.max(0, Math.floor(report.pageCount)),
  };
  const calm: Status = { ...status, job: seen, failures: { ...status.failures, poll: undefined } };
  switch (report.outcome) {
    case 'unfinished':
      return calm;
    case 'completed':
      // A late completion is adopted, and the timeout's verdict is withdrawn.
      return {
        ...calm,
        job: { ...seen, completionTime: formatInstant(now), verdict: undefined, message: undefined },
      };
    case 'failed': {
      const failed = {
        ...calm,
        job: {
          ...seen,
          completionTime: formatInstant(now),
          verdict: 'JobFailed' as const,
          message: report.said,
        },
      };
      return status.job.verdict === 'TimedOut' ? failed : exportFailed(observation, failed, 'JobFailed');
    }
    default:
      return report.outcome satisfies never;
  }
}

function pollFailed(observation: Observation, failure: CallFailure): Status {
  const { status, now } = observation;
  const { job } = status;
  if (job === undefined) return status;
  if (!callPolicies[failure.code].isJobGone) {
    return {
      ...status,
      failures: { ...status.failures, poll: recordFailure(observation, 'poll', job.id, failure) },
    };
  }
  if (job.cause === 'Pin') return subjectLinkFailed(observation, { jobId: job.id, cause: 'pin' }, failure);
  if (job.verdict === 'TimedOut')
    return { ...status, job: { ...job, verdict: 'JobFailed', message: 'JobLost' } };
  const lost: Status = { ...status, job: { ...job, completionTime: formatInstant(now), verdict: 'JobLost' } };
  // The first loss starts one new job at once. A second loss is a failed export.
  return job.cause === 'JobLost' ? exportFailed(observation, lost, 'JobLost') : lost;
}

function settleInspected(
  observation: Observation,
  subject: Subject,
  { content, link, uncopied }: Extract<ActionResult, { kind: 'inspected' }>,
): { readonly status: Status; readonly publish: Publication | undefined } {
  const judged = settleSubject(observation, subject, content, link);
  // The copy that was just read is the published version's, so that no copy is missing any more.
  const hasCopy =
    content.ref !== undefined &&
    (judged.publish !== undefined || (subject.cause === 'job' && judged.status.job?.verdict === 'Unchanged'));
  const settled = hasCopy ? { ...judged, status: withoutMirrorFailure(judged.status) } : judged;
  if (uncopied === undefined || settled.publish === undefined) return settled;
  const { mirror } = settleMirrorFailure(observation, uncopied).failures ?? {};
  return { ...settled, status: { ...settled.status, failures: { ...settled.status.failures, mirror } } };
}

const withoutMirrorFailure = (status: Status): Status => ({
  ...status,
  failures: { ...status.failures, mirror: undefined },
});

function settleIssued(observation: Observation, plan: Plan, issued: Issued): Settled {
  const settled = settleIssue(observation, plan, issued);
  if (!isElsewhere(observation, plan)) return settled;
  const { refusedKey } = observation.status;
  return { ...settled, status: { ...settled.status, refusedKey }, rateLimit: { kind: 'keep' } };
}

function settleIssue(observation: Observation, plan: Plan, issued: Issued): Settled {
  const { status } = observation;
  const { times } = issued;
  if (plan.action.kind === 'issue' && plan.action.cause === 'subject') {
    const subject = subjectOf(plan);
    if (needsInspection(subject, observation)) return answered(status);
    const { digest, pages, sizeBytes, ref } = subject;
    const content = { digest, pages, sizeBytes, ref };
    const settled = settleSubject(observation, subject, content, times);
    return answered(settled.status, settled.publish);
  }
  // The next reconcile copies with the link in memory.
  if (plan.action.kind === 'issue' && plan.action.cause === 'mirror') return answered(status);
  return settleRefreshed(observation, issued);
}

function settleRefreshed(observation: Observation, { times, isPublished }: Issued): Settled {
  const { status, output, now, wanted } = observation;
  const published = output.kind === 'ours' ? output.published?.link : undefined;
  const { active } = status;
  if (active === undefined) return answered(status);
  // If this machine's clock was set back, even the same link needs a write: its lifetime on the corrected clock.
  const isComparable = published !== undefined && !isFromTheFuture(published, now);
  // A person who requests a link gets it, even if it expires no later.
  const isUseful = (before: LinkTimes): boolean =>
    pendingRefresh(observation) === undefined ? isFresher(times, before, now) : isValidLongEnough(times, now);
  const isStale = isComparable && (isPublished || !isUseful(published));
  if (isStale && published.expiresAt > now) {
    // If the clock was set back while the link was valid, its stored expiry is later than the export API's.
    const expiresAt = isPublished ? Math.min(published.expiresAt, times.expiresAt) : published.expiresAt;
    const stale = {
      count: (status.failures?.link?.count ?? 0) + 1,
      lastFailureTime: formatInstant(now),
      retryTime: formatInstant(retryAfterStale({ ...published, expiresAt }, now, wanted.minIntervalMs)),
      reason: 'NotFresher',
      refreshRequest: pendingRefresh(observation),
    };
    return answered({ ...status, failures: { ...status.failures, link: stale } });
  }
  const publish = republish(active, active.jobId, times);
  const lastHandledRefresh = observation.refreshRequest ?? status.lastHandledRefresh;
  const next = { ...status, lastHandledRefresh, failures: { ...status.failures, link: undefined } };
  return answered(next, publish);
}

function subjectOf({ state }: Plan): Subject {
  // Links are issued, and archives inspected, for complete exports only. A change of that must name the result's
  // owner.
  if (state.export.kind !== 'complete') throw new TypeError(`no subject while export=${state.export.kind}`);
  return state.export.subject;
}
