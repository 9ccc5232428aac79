// Decides which changes of a status become events: outcomes, and transitions of conditions. Pure. A refresh, a poll
// or a reconcile without change is not an event, because an event per refresh would mean thousands a day. A reason
// must be clear in a list of all events of a cluster, so LinkFresh and TargetsSynced prefix theirs.

import { withoutRetry } from '../reconcile/status/failure-words.ts';
import type { Condition, Status } from '../staticexport/status-schema.ts';
import type { EventNote } from '../wire/cluster.ts';

/** @param before as read at the start of the reconcile; `after` as stored at its end */
export function notesOf(before: Status, after: Status): readonly EventNote[] {
  const notes = [
    noteOfStart(before, after),
    noteOfVersion(before, after),
    noteOfSame(before, after),
    noteOfRelief(before, after),
  ].filter((note) => note !== undefined);
  for (const type of ['Stalled', 'Exported', 'LinkFresh', 'TargetsSynced']) {
    const note = noteOfCondition(conditionOf(before, type), conditionOf(after, type));
    // One cause may change two conditions; one event is enough.
    const isTold = notes.some(({ reason }) => reason === note?.reason);
    if (note !== undefined && !isTold) notes.push(note);
  }
  return notes;
}

function noteOfStart(before: Status, { job }: Status): EventNote | undefined {
  if (job === undefined || job.id === before.job?.id || job.cause === 'Pin') return undefined;
  const message = `Export started: ${job.cause ?? ''}. Job ${job.id.slice(0, 128)}.`;
  return { type: 'Normal', reason: 'ExportStarted', message };
}

/** An export whose start was an event, and which publishes nothing. */
function noteOfSame(before: Status, { job, active }: Status): EventNote | undefined {
  const isNew = before.job?.id !== job?.id || before.job?.verdict !== job?.verdict;
  if (job?.verdict !== 'Unchanged' || !isNew || job.cause === 'Pin' || active === undefined) return undefined;
  const message = `Job ${job.id.slice(0, 128)} has the same content as version ${active.version}, which stays published.`;
  return { type: 'Normal', reason: 'Unchanged', message };
}

function noteOfRelief(before: Status, after: Status): EventNote | undefined {
  const was = conditionOf(before, 'Stalled');
  if (was?.status !== 'True' || conditionOf(after, 'Stalled') !== undefined) return undefined;
  return { type: 'Normal', reason: 'NoLongerStalled', message: `No longer stalled (was ${was.reason}).` };
}

/** From these conditions a pin takes effect on the published version: no pin existed, or it named another version. */
const beforePin: readonly (string | undefined)[] = [
  'Published',
  'PinPending',
  'PinnedVersionUnknown',
  'PinnedJobFailed',
  'PinnedContentChanged',
];

/** Another version was published, or a pin begins or stops holding the same version. */
function noteOfVersion(before: Status, after: Status): EventNote | undefined {
  const { active } = after;
  if (active === undefined) return undefined;
  const [earlier, now] = [conditionOf(before, 'Ready')?.reason, conditionOf(after, 'Ready')?.reason];
  const normal = (reason: string, message: string): EventNote => ({ type: 'Normal', reason, message });
  const was = before.active?.version;
  if (was !== active.version) {
    const pages =
      active.pages === undefined ? '' : `, ${active.pages} ${active.pages === 1 ? 'page' : 'pages'}`;
    const instead = was === undefined ? '' : ` It replaces ${was}.`;
    return now === 'Pinned'
      ? normal('Pinned', `Version ${active.version} is published because it is pinned${pages}.${instead}`)
      : normal('Promoted', `Version ${active.version} is published${pages}.${instead}`);
  }
  if (now === 'Pinned' && beforePin.includes(earlier)) {
    return normal('Pinned', `Version ${active.version} is pinned. Exports resume when spec.pin is removed.`);
  }
  const isFreed =
    earlier === 'Pinned' && (now === 'Published' || now === 'StartPending' || now === 'Exporting');
  return isFreed
    ? normal('Unpinned', `Version ${active.version} is no longer pinned. The next export may replace it.`)
    : undefined;
}

function conditionOf({ conditions }: Status, type: string): Condition | undefined {
  return conditions?.find((one) => one.type === type);
}

function noteOfCondition(before: Condition | undefined, after: Condition | undefined): EventNote | undefined {
  if (after === undefined || after.status === 'Unknown') return undefined;
  if (before?.status === after.status && before.reason === after.reason) return undefined;
  const isBad = (after.type === 'Stalled') === (after.status === 'True');
  // A recovery is an event only after a failure; a promotion has its own event.
  const isNews = isBad || (before?.status === 'False' && after.reason !== 'Promoted');
  if (!isNews) return undefined;
  const reason = eventReason(after);
  // An event lasts an hour, and the next retry is often seconds away. Status has the time of the retry.
  return { type: isBad ? 'Warning' : 'Normal', reason, message: withoutRetry(after.message) };
}

const subjects: Readonly<Record<string, string>> = { LinkFresh: 'Link', TargetsSynced: 'Targets' };

function eventReason({ type, reason }: Condition): string {
  return `${subjects[type] ?? ''}${reason}`;
}
