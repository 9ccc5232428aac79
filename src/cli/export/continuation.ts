// What an export continues of the one before it, as the status that its loop begins with. Pure. Refuses: what is published,
// and failures: the gates judge each export again. Invariant: a job that a start may have made is never started twice,
// unless the user asks for a new export.

import { hashInputs } from '#operator/reconcile/spread.ts';
import type { JobStatus, StartRecord, Status } from '#operator/staticexport/status-schema.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { type ExportedSite, inputsOf } from '../publish/exported-site.ts';
import type { LastExport } from '../publish/state-folder.ts';

export interface ContinuationRules {
  readonly site: ExportedSite;
  /** Has finished: its job is not continued. */
  readonly last: Pick<LastExport, 'jobId'> | undefined;
  /** The user wants a new export. */
  readonly isNew: boolean;
  /** An unfinished export that is older is not continued, because its content may be older too. */
  readonly withinMs: number;
  /** Epoch ms. */
  readonly now: number;
}

export interface Continuation {
  readonly status: Status;
  /** What the user should know of it. */
  readonly note: string | undefined;
}

/** @param stored as the last run left it */
export function continueExport({ startTimes, ...stored }: Status, rules: ContinuationRules): Continuation {
  const { status, note } = continueJob(stored, rules);
  // Starts count for the budget of the key, whatever became of them.
  return { status: startTimes === undefined ? status : { ...status, startTimes }, note };
}

function continueJob({ start, job }: Status, rules: ContinuationRules): Continuation {
  if (rules.isNew) return { status: {}, note: undefined };
  if (start !== undefined) {
    const isContinued = isCurrent(start, start.lastAttemptTime, rules);
    const note = `Continuing the export that was requested at ${start.lastAttemptTime}. For a new export, add --new`;
    return isContinued ? { status: { start }, note } : { status: {}, note: tooOld };
  }
  if (job === undefined || !isUnfinished(job, rules)) return { status: {}, note: undefined };
  if (!isCurrent(job, job.requestTime, rules)) return { status: {}, note: tooOld };
  const id = printable(job.id);
  const note = `Continuing export job ${id}, started at ${job.requestTime}. For a new export, add --new`;
  // Held by a gate, or not written everywhere: it is inspected and judged by the flags of this command.
  return { status: { job: { ...job, verdict: undefined, message: undefined } }, note };
}

const tooOld = 'The unfinished export is too old or from another --api-base-url. Starting a new export';

function isUnfinished({ id, verdict }: JobStatus, { last }: ContinuationRules): boolean {
  const mayPublish =
    verdict === undefined || verdict === 'Held' || verdict === 'Promoted' || verdict === 'Unchanged';
  return mayPublish && id !== last?.jobId;
}

function isCurrent(
  { inputHash }: Pick<StartRecord | JobStatus, 'inputHash'>,
  requestTime: string | undefined,
  { site, withinMs, now }: ContinuationRules,
): boolean {
  const requestedAt = readInstant(requestTime);
  const isRecent = requestedAt !== undefined && now - requestedAt <= withinMs;
  return isRecent && inputHash === hashInputs(inputsOf(site));
}
