// What a reconcile did and changed, as log lines for readers without access to the cluster. Lines cover calls with
// job, host and outcome, published versions, and changed conditions. Pure. A reconcile without action or change has
// no line; a job has one line at its start and one at its end.

import type { ExportProject } from '#export-api/answers.ts';
import { isPostponed } from '#operator/reconcile/failure-policy.ts';
import type { ActionResult, CallFailure, ContentNote } from '#operator/reconcile/result.ts';
import type { Action } from '#operator/reconcile/state.ts';
import { type FailedCallTarget, failureMessage, hostOf } from '#operator/reconcile/status/failure-words.ts';
import type { StatusChange } from '#operator/reconcile/status/status-changes.ts';
import { type LinkReason, reconcilingReasons, stalledReasons } from '#operator/staticexport/reasons.ts';
import type { Condition, Failure, Status } from '#operator/staticexport/status-schema.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import type { PublishableFailure } from '#platform/wire/publishable-error.ts';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, string | number | undefined>>;
  readonly message: string;
}

export interface LoggedReconcile {
  readonly changes: readonly StatusChange[];
  /** The status at its start: an operation that fails again for the same reason needs no further warning. */
  readonly before?: Status;
  /** The status as stored at its end. */
  readonly after: Status;
  readonly action: Action;
  readonly result: ActionResult;
  /** What was asked: the domain, and the default export API, for a resource or job that names none. */
  readonly wanted: FailedCallTarget['wanted'];
}

export function logLinesOf(reconcile: LoggedReconcile): readonly LogLine[] {
  const { changes, after } = reconcile;
  const isJudged = changes.some((change) => change.kind === 'verdict' && change.verdict !== 'Promoted');
  return [
    ...linesOfAction(reconcile),
    ...changes.flatMap((change) => linesOfChange(change, after, isJudged)),
  ];
}

function info(message: string, fields: LogLine['fields']): readonly LogLine[] {
  return [{ level: 'info', fields, message }];
}

function warn(message: string, fields: LogLine['fields']): readonly LogLine[] {
  return [{ level: 'warn', fields, message }];
}

/** Visitors are or will be without the site, or only a person can end it. */
function severe(message: string, fields: LogLine['fields']): readonly LogLine[] {
  return [{ level: 'error', fields, message }];
}

/** A link is asked for in the form that made its job. */
function projectAsked(action: Action, { project }: LoggedReconcile['wanted']): ExportProject | undefined {
  if (action.kind !== 'issue') return project;
  const { projectId } = action.issuer;
  return projectId === undefined ? undefined : { id: projectId, basePath: undefined };
}

function linesOfAction({ before, after, action, result, wanted }: LoggedReconcile): readonly LogLine[] {
  const isRefresh = action.kind === 'issue' && action.cause === 'refresh';
  const baseUrl = action.kind === 'issue' ? action.issuer.baseUrl : wanted.baseUrl;
  const host = hostOf(baseUrl);
  const asked = { wanted: { ...wanted, baseUrl, project: projectAsked(action, wanted) } };
  const jobId = shorten(jobOf(action) ?? after.job?.id);
  const { failures, active } = after;
  const attempts = (name: keyof NonNullable<Status['failures']>): Attempts => [
    before?.failures?.[name],
    failures?.[name],
  ];
  switch (result.kind) {
    case 'none':
    case 'inspecting':
      return [];
    // The line of its verdict or version reports the rest.
    case 'inspected':
      return (result.content.notes ?? []).flatMap((note) => linesOfNote(note, jobId));
    case 'started':
      return info('export started', { jobId: shorten(result.jobId), cause: result.record.cause, host });
    case 'start-delayed': {
      const { cause } = result.record;
      const isKnown = before?.failures?.start?.reason === result.code;
      return isKnown
        ? []
        : info('export waits', { cause, reason: result.code, retryTime: failures?.start?.retryTime });
    }
    case 'start-failed':
      return failedCall(
        'starting the export',
        result.failure,
        asked,
        attempts(isPostponed(result.failure.code) ? 'start' : 'export'),
        {
          cause: result.record.cause,
          host,
        },
      );
    case 'polled':
      return result.outcome === 'completed'
        ? info('export completed', { jobId, pages: result.pageCount, host })
        : [];
    case 'poll-failed':
      return failedCall('polling the export job', result.failure, asked, attempts('poll'), {
        jobId,
        host,
      });
    case 'issued': {
      const linkExpirationTime = formatInstant(result.times.expiresAt);
      const fields = { jobId, version: isRefresh ? active?.version : undefined, linkExpirationTime, host };
      if (!isRefresh) return info('link to the export received', fields);
      return info(result.isPublished ? 'the same link received' : 'link refreshed', fields);
    }
    case 'issue-failed': {
      const { code } = result.failure;
      const isIssued = code === 'LinkRefused' || code === 'ExpiredOnArrival' || code === 'LifetimeTooShort';
      const what = isIssued ? 'checking the issued link' : 'issuing the link';
      const published = isRefresh ? active : undefined;
      const linkExpirationTime = published?.linkExpirationTime;
      const fields = { jobId, version: published?.version, linkExpirationTime, host };
      const operation = isRefresh ? 'link' : 'poll';
      return failedCall(what, result.failure, asked, attempts(operation), fields);
    }
    case 'inspect-failed': {
      const { code, message } = result.failure;
      return failed('inspecting the archive', { code, why: message }, attempts('poll'), {
        jobId,
      });
    }
    case 'copy-failed':
      return failed('copying to the mirror', whyOf(result.failure), attempts('poll'), { jobId });
    case 'mirror-failed':
      return failed('checking the mirror', whyOf(result.failure), attempts('mirror'), { ref: active?.ref });
    case 'mirror-looked':
      return [
        ...(result.isThere ? [] : warn('copy is no longer in the mirror', { ref: active?.ref })),
        ...(result.retentionFailure === undefined
          ? []
          : failed('removing old copies', whyOf(result.retentionFailure), attempts('retention'), {
              ref: active?.ref,
            })),
      ];
    case 'mirror-copied':
      return info('copied to the mirror again', { version: active?.version, ref: result.ref });
    case 'mirror-working':
      return [];
    default:
      return result satisfies never;
  }
}

/** Notes of other codes say what the reader adapted, and cost visitors nothing. */
const missed: Readonly<Record<string, string>> = {
  HomePageMissing: 'the home page of the export does not answer; the root has no index.html',
  NotServed: 'pages or linked files of the export are hidden; the bundle server answers them with 404',
};

function linesOfNote(
  { code, count, example, paths = [] }: ContentNote,
  jobId: string | undefined,
): readonly LogLine[] {
  const message = missed[code];
  if (message === undefined) return [];
  return warn(message, { jobId, reason: code, count, paths: paths.length > 0 ? paths.join(', ') : example });
}

const whyOf = ({ code, message }: PublishableFailure) => ({ code, why: message });

/** An operation's failure before the reconcile, and after it. */
type Attempts = readonly [before: Failure | undefined, after: Failure | undefined];

/** A call, in the sentence of its code. */
function failedCall(
  what: string,
  failure: CallFailure,
  asked: FailedCallTarget,
  attempts: Attempts,
  fields: LogLine['fields'],
): readonly LogLine[] {
  const { code, why } = failure;
  const words = failureMessage({ reason: code, ...(why !== undefined && { message: why }) }, asked);
  return failed(what, { ...failure, why: words }, attempts, fields);
}

/** An export API or a storage that is away for hours fails some hundred times, for one reason. */
function failed(
  what: string,
  failure: Pick<CallFailure, 'why' | 'said' | 'requestId'> & { readonly code: string },
  [before, after]: Attempts,
  fields: LogLine['fields'],
): readonly LogLine[] {
  const { code, why, said, requestId } = failure;
  const write = before !== undefined && before.reason === (after?.reason ?? code) ? info : warn;
  return write(`${what} failed`, {
    ...fields,
    reason: code,
    message: why,
    ...(said !== undefined && { answer: said }),
    requestId,
    count: after?.count,
    retryTime: after?.retryTime,
  });
}

function linesOfChange(change: StatusChange, after: Status, isJudged: boolean): readonly LogLine[] {
  switch (change.kind) {
    case 'verdict':
      return linesOfVerdict(change, after);
    case 'version': {
      const { version, pages, sizeBytes, linkExpirationTime, jobId, ref } = change.active;
      const was = change.previous;
      return info('published', {
        version,
        was,
        jobId: shorten(jobId),
        pages,
        sizeBytes,
        linkExpirationTime,
        ref,
      });
    }
    case 'condition':
      return linesOfCondition(change, isJudged);
    // The lines of the action and of Ready report these.
    case 'job':
    case 'pin':
    case 'unpin':
      return [];
    default:
      return change satisfies never;
  }
}

/** A promotion is the line of its version. */
function linesOfVerdict(
  { job, verdict }: Extract<StatusChange, { kind: 'verdict' }>,
  { active, candidate }: Status,
): readonly LogLine[] {
  const [jobId, message] = [shorten(job.id), job.message];
  if (verdict === 'Promoted') return [];
  if (verdict === 'Unchanged') return info('unchanged', { jobId, version: active?.version });
  if (verdict === 'Held')
    return warn('candidate held', { jobId, version: candidate?.version, reason: message });
  if (verdict === 'Rejected') return info('candidate rejected', { jobId, version: message });
  return warn('export failed', { jobId, reason: verdict, message });
}

/** While the operator works towards the spec, these reasons need no action by a person. */
const working = new Set(Object.keys(reconcilingReasons).filter((reason) => reason !== 'KeyMissing'));

function linesOfCondition(
  { type, before, now }: Extract<StatusChange, { kind: 'condition' }>,
  isJudged: boolean,
): readonly LogLine[] {
  // Ready reports that a resource is stalled, and why.
  if (now === undefined || type === 'Stalled') return [];
  if (type === 'Ready') {
    const isWorking = working.has(now.reason);
    if (before?.status !== 'True' && isWorking) return [];
    if (now.status !== 'False' || isWorking) return lineOfTransition(before, now, info);
    return lineOfTransition(before, now, severeReadyReasons.has(now.reason) ? severe : warn);
  }
  if (type === 'LinkFresh' && now.status === 'False' && severeLinkReasons.has(now.reason)) {
    return lineOfTransition(before, now, severe);
  }
  // The line of the verdict or of the link reports it.
  const isLogged = (type === 'Exported' && isJudged) || (type === 'LinkFresh' && now.status === 'True');
  if (isLogged || now.reason === 'NotPublished') return [];
  const isBad = now.status === 'False';
  const isRecovery = now.status === 'True' && before?.status === 'False';
  return isBad || isRecovery ? lineOfTransition(before, now, isBad ? warn : info) : [];
}

/** Only a person can end it, or servers that start now get no bundle. A candidate for a person to promote is planned. */
const severeReadyReasons: ReadonlySet<string> = new Set(
  [...Object.keys(stalledReasons), 'LinkExpired', 'NotMirrored'].filter((one) => one !== 'AwaitingPromotion'),
);

/** Servers that start now get no bundle, or soon get none. */
const severeLinkReasons: ReadonlySet<string> = new Set([
  'Expired',
  'JobGone',
] satisfies readonly LinkReason[]);

function lineOfTransition(
  before: Condition | undefined,
  now: Condition,
  write: typeof info,
): readonly LogLine[] {
  const fields = {
    from: before && `${before.status}/${before.reason}`,
    to: `${now.status}/${now.reason}`,
    message: now.message,
  };
  const words = `${now.type} ${before?.status ?? 'Unknown'}->${now.status} ${now.reason}`;
  return write(words, fields);
}

function jobOf(action: Action): string | undefined {
  if (action.kind === 'poll' || action.kind === 'issue') return action.jobId;
  return action.kind === 'inspect' ? action.subject.jobId : undefined;
}

/** An id may be as long as a page; the whole of it is in status. */
function shorten(id: string | undefined): string | undefined {
  return id?.slice(0, 128);
}
