// Which changes of a status a person should see as events: outcomes, and conditions that turned. Pure. Nothing is
// said of a refresh, a poll or a pass that changed nothing (an event per refresh was thousands a day elsewhere).

import type { Condition, Status } from '../staticexport/status-schema.ts';
import type { EventNote } from './ports.ts';

/** @param before as read at the start of the pass; `after` as stored at its end */
export function notesOf(before: Status, after: Status): readonly EventNote[] {
  const notes: EventNote[] = [];
  if (after.job !== undefined && after.job.id !== before.job?.id && after.job.cause !== 'Pin') {
    notes.push({
      type: 'Normal',
      reason: 'ExportStarted',
      message: `Export started: ${after.job.cause ?? ''}.`,
    });
  }
  if (after.active !== undefined && after.active.version !== before.active?.version) {
    const pages = after.active.pages === undefined ? '' : `, ${after.active.pages} pages`;
    notes.push({
      type: 'Normal',
      reason: 'Promoted',
      message: `Version ${after.active.version} is published${pages}.`,
    });
  }
  for (const type of ['Stalled', 'Exported', 'LinkFresh', 'TargetsSynced']) {
    const note = noteOfCondition(conditionOf(before, type), conditionOf(after, type));
    // One cause may turn two conditions; it is told once.
    const isTold = notes.some(({ reason }) => reason === note?.reason);
    if (note !== undefined && !isTold) notes.push(note);
  }
  return notes;
}

function conditionOf({ conditions }: Status, type: string): Condition | undefined {
  return conditions?.find((one) => one.type === type);
}

function noteOfCondition(before: Condition | undefined, after: Condition | undefined): EventNote | undefined {
  if (after === undefined || after.status === 'Unknown') return undefined;
  if (before?.status === after.status && before.reason === after.reason) return undefined;
  const isBad = (after.type === 'Stalled') === (after.status === 'True');
  // Good news only where bad news went before; a promotion has its own event.
  const isNews = isBad || (before?.status === 'False' && after.reason !== 'Promoted');
  return isNews
    ? { type: isBad ? 'Warning' : 'Normal', reason: after.reason, message: after.message }
    : undefined;
}
