// What a reconcile did and changed, as log lines for readers without access to the cluster. Lines cover calls with
// job, host and outcome, published versions, and changed conditions. Pure. A reconcile without action or change has
// no line; a job has one line at its start and one at its end.

import type { ActionResult, CallFailure } from '../reconcile/result.ts';
import type { Action } from '../reconcile/state.ts';
import { hostOf } from '../reconcile/status/failure-words.ts';
import { formatInstant } from '../staticexport/instant.ts';
import { reconcilingReasons } from '../staticexport/reasons.ts';
import type { Condition, Failure, Status } from '../staticexport/status-schema.ts';

export interface StoryLine {
  readonly level: 'info' | 'warn';
  readonly fields: Readonly<Record<string, string | number | undefined>>;
  readonly message: string;
}

export interface Chapter {
  /** As read at the start of the reconcile. */
  readonly before: Status;
  /** As stored at its end. */
  readonly after: Status;
  readonly action: Action;
  readonly result: ActionResult;
  /** Of the export API where the resource, or its job, names none of its own. */
  readonly baseUrl: string | undefined;
}

export function storyOf(chapter: Chapter): readonly StoryLine[] {
  const verdict = lineOfVerdict(chapter);
  return [
    ...lineOfAction(chapter),
    ...verdict,
    ...lineOfVersion(chapter),
    ...lineOfReady(chapter),
    ...linesOfOthers(chapter, verdict.length > 0),
  ];
}

function info(message: string, fields: StoryLine['fields']): readonly StoryLine[] {
  return [{ level: 'info', fields, message }];
}

function warn(message: string, fields: StoryLine['fields']): readonly StoryLine[] {
  return [{ level: 'warn', fields, message }];
}

function lineOfAction({ after, action, result, baseUrl }: Chapter): readonly StoryLine[] {
  const isRefresh = action.kind === 'issue' && action.cause === 'refresh';
  const host = hostOf(action.kind === 'issue' ? action.baseUrl : baseUrl);
  const jobId = shorten(jobOf(action) ?? after.job?.id);
  const { failures, active } = after;
  switch (result.kind) {
    case 'none':
    case 'inspecting':
    // The line of the verdict reports it.
    case 'inspected':
      return [];
    case 'started':
      return info('export started', { jobId: shorten(result.jobId), cause: result.mark.cause, host });
    case 'start-failed':
      return failed('start', result.failure, failures?.export, { cause: result.mark.cause, host });
    case 'polled':
      return result.outcome === 'completed'
        ? info('export completed', { jobId, pages: result.pageCount, host })
        : [];
    case 'poll-failed':
      return failed('poll', result.failure, failures?.poll, { jobId, host });
    case 'issued': {
      const linkExpirationTime = formatInstant(result.times.expiresAt);
      const fields = { jobId, version: isRefresh ? active?.version : undefined, linkExpirationTime, host };
      if (!isRefresh) return info('link to the export received', fields);
      return info(result.isPublished ? 'the same link received' : 'link renewed', fields);
    }
    case 'issue-failed':
      return failed('link', result.failure, isRefresh ? failures?.link : failures?.poll, { jobId, host });
    case 'inspect-failed': {
      const { code, message } = result.failure;
      return failed('inspection', { code, why: message }, failures?.poll, { jobId });
    }
    default:
      return result satisfies never;
  }
}

function failed(
  what: string,
  failure: Pick<CallFailure, 'why' | 'requestId'> & { readonly code: string },
  operation: Failure | undefined,
  fields: StoryLine['fields'],
): readonly StoryLine[] {
  const { code, why, requestId } = failure;
  const again = { count: operation?.count, retryTime: operation?.retryTime };
  return warn(`${what} failed`, { ...fields, reason: code, why, requestId, ...again });
}

/** The outcome of a job, once. Its promotion is the line of its version. */
function lineOfVerdict({ before, after }: Chapter): readonly StoryLine[] {
  const { job, active, candidate } = after;
  if (job?.verdict === undefined || job.verdict === 'Promoted') return [];
  if (before.job?.id === job.id && before.job.verdict === job.verdict) return [];
  const jobId = shorten(job.id);
  const { verdict, message: why } = job;
  if (verdict === 'Unchanged') return info('unchanged', { jobId, version: active?.version });
  if (verdict === 'Held') return warn('held back', { jobId, version: candidate?.version, reason: why });
  return warn('export failed', { jobId, reason: verdict, why });
}

function lineOfVersion({ before, after: { active } }: Chapter): readonly StoryLine[] {
  if (active === undefined || active.version === before.active?.version) return [];
  const { version, pages, sizeBytes, linkExpirationTime } = active;
  const was = before.active?.version;
  return info('published', {
    version,
    was,
    jobId: shorten(active.jobId),
    pages,
    sizeBytes,
    linkExpirationTime,
  });
}

/** While the operator works towards the spec, these reasons need no action by a person. */
const passing = new Set(Object.keys(reconcilingReasons).filter((reason) => reason !== 'KeyMissing'));

function lineOfReady(chapter: Chapter): readonly StoryLine[] {
  const [was, is] = conditionsOf(chapter, 'Ready');
  if (is === undefined || (was?.status === is.status && was.reason === is.reason)) return [];
  if (was?.status !== 'True' && passing.has(is.reason)) return [];
  return turned(was, is, is.status === 'False' && !passing.has(is.reason));
}

function linesOfOthers(chapter: Chapter, isJudged: boolean): readonly StoryLine[] {
  return ['Exported', 'LinkFresh', 'TargetsSynced'].flatMap((type) => {
    const [was, is] = conditionsOf(chapter, type);
    // The line of the verdict or of the link reports it.
    const isSaid = (type === 'Exported' && isJudged) || (type === 'LinkFresh' && is?.status === 'True');
    if (is === undefined || isSaid || is.reason === 'NotPublished') return [];
    const isBad = is.status === 'False' && (was?.status !== 'False' || was.reason !== is.reason);
    const isWell = is.status === 'True' && was?.status === 'False';
    return isBad || isWell ? turned(was, is, isBad) : [];
  });
}

function conditionsOf({ before, after }: Chapter, type: string) {
  const find = ({ conditions }: Status) => conditions?.find((one) => one.type === type);
  return [find(before), find(after)] as const;
}

function turned(was: Condition | undefined, is: Condition, isBad: boolean): readonly StoryLine[] {
  const fields = {
    from: was && `${was.status}/${was.reason}`,
    to: `${is.status}/${is.reason}`,
    why: is.message,
  };
  const words = `${is.type} ${was?.status ?? 'Unknown'}->${is.status} ${is.reason}`;
  return isBad ? warn(words, fields) : info(words, fields);
}

function jobOf(action: Action): string | undefined {
  if (action.kind === 'poll' || action.kind === 'issue') return action.jobId;
  return action.kind === 'inspect' ? action.subject.jobId : undefined;
}

/** An id may be as long as a page; the whole of it is in status. */
function shorten(id: string | undefined): string | undefined {
  return id?.slice(0, 128);
}
