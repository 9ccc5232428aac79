// Decides which changes of a status become events: outcomes, and transitions of conditions. Pure. A refresh, a poll
// or a reconcile without change is not an event, because an event per refresh would mean thousands a day. A reason
// must be clear in a list of all events of a cluster, so LinkFresh, Mirrored and TargetsSynced prefix theirs.

import { isPostponed } from '#operator/reconcile/failure-policy.ts';
import type { StatusChange } from '#operator/reconcile/status/status-changes.ts';
import type { MirrorReason } from '#operator/staticexport/reasons.ts';
import type { Condition, JobStatus, Status } from '#operator/staticexport/status-schema.ts';
import type { EventNote } from '#platform/wire/cluster.ts';

/** @param changes in messages without what the operator does next. @param after the status as stored */
export function eventsOf(changes: readonly StatusChange[], after: Status): readonly EventNote[] {
  const events: EventNote[] = [];
  for (const change of changes) {
    const event = eventOf(change, after);
    // One cause may change two conditions; one event is enough.
    if (event !== undefined && !events.some(({ reason }) => reason === event.reason)) events.push(event);
  }
  return events;
}

function eventOf(change: StatusChange, { active, job }: Status): EventNote | undefined {
  switch (change.kind) {
    case 'job': {
      const { id, cause } = change.job;
      if (cause === 'Pin') return undefined;
      return normal(
        'ExportStarted',
        `Export job ${id.slice(0, 128)} started (cause: ${cause ?? 'unknown'}).`,
      );
    }
    case 'verdict': {
      // An export whose start was an event, and which publishes nothing. Conditions report the other outcomes.
      const { id, cause } = change.job;
      if (change.verdict !== 'Unchanged' || cause === 'Pin' || active === undefined) return undefined;
      const { version } = active;
      const what = `Job ${id.slice(0, 128)} has the same content as version ${version}, which stays published.`;
      return normal('Unchanged', withReport(what, change.job));
    }
    case 'version':
      return eventOfVersion(change, job);
    case 'pin':
      return normal(
        'Pinned',
        `Version ${change.version} is pinned. Exports resume when spec.pin is removed.`,
      );
    case 'unpin':
      return normal(
        'Unpinned',
        `Version ${change.version} is no longer pinned. The next export may replace it.`,
      );
    case 'condition':
      return eventOfCondition(change.type, change.before, change.now);
    default:
      return change satisfies never;
  }
}

function eventOfVersion(
  { active: { version, pages, jobId }, previous, isPinned }: Extract<StatusChange, { kind: 'version' }>,
  job: JobStatus | undefined,
): EventNote {
  const count = pages === undefined ? '' : `, ${pages} ${pages === 1 ? 'page' : 'pages'}`;
  const instead = previous === undefined ? '' : ` It replaces ${previous}.`;
  return isPinned
    ? normal('Pinned', `Version ${version} is published because it is pinned${count}.${instead}`)
    : normal(
        'Promoted',
        withReport(`Version ${version} is published${count}.${instead}`, jobId === job?.id ? job : undefined),
      );
}

/** What the export itself says is missing belongs to the news of it. */
function withReport(message: string, job: JobStatus | undefined): string {
  return [message, ...(job?.report ?? [])].join(' ');
}

function eventOfCondition(
  type: string,
  before: Condition | undefined,
  now: Condition | undefined,
): EventNote | undefined {
  // Transitions of Ready follow from the others.
  if (type === 'Ready') return undefined;
  if (now === undefined) {
    const isRelief = type === 'Stalled' && before?.status === 'True';
    return isRelief ? normal('NoLongerStalled', `No longer stalled (was ${before.reason}).`) : undefined;
  }
  if (now.status === 'Unknown') return undefined;
  const isBad = (type === 'Stalled') === (now.status === 'True') || now.reason === withOldCopies;
  // A recovery is an event only after a failure; a promotion has its own event.
  const wasBad = before?.status === 'False' || before?.reason === withOldCopies;
  if (!isBad && (!wasBad || now.reason === 'Promoted')) return undefined;
  const reason = `${subjects[type] ?? ''}${now.reason}`;
  return { type: isBad && !isPostponed(now.reason) ? 'Warning' : 'Normal', reason, message: now.message };
}

/** The copy can be used, so `Mirrored` is True. */
const withOldCopies: MirrorReason = 'RetentionFailed';

const subjects: Readonly<Record<string, string>> = {
  LinkFresh: 'Link',
  Mirrored: 'Mirror',
  TargetsSynced: 'Targets',
};

function normal(reason: string, message: string): EventNote {
  return { type: 'Normal', reason, message };
}
