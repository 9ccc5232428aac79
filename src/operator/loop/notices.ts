// Decides which changes of a status are notifications, and of which kind. Pure. The reasons and sentences are those of the
// events. Refuses: a job that starts, an export without a change, and what a person did with a pin or a candidate.

import { isPostponed } from '#operator/reconcile/failure-policy.ts';
import type { StatusChange } from '#operator/reconcile/status/status-changes.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import type { NoticeKind } from '#platform/wire/cluster.ts';
import { eventsOf } from './events.ts';

export interface Notice {
  /** A new version may end a failure as well. Never empty. */
  readonly kinds: readonly NoticeKind[];
  readonly reason: string;
  readonly message: string;
}

/** @param before as read at the start of a reconcile; `after` as stored at its end */
export function noticesOf(
  changes: readonly StatusChange[],
  before: Status,
  after: Status,
): readonly Notice[] {
  const notices: Notice[] = [];
  for (const change of changes) {
    const kinds = kindsOf(change, changes, before, after);
    const event = kinds.length === 0 ? undefined : (eventsOf([change], after)[0] ?? endOfFailure(change));
    // One cause may change two conditions; one notification is enough.
    if (event === undefined || notices.some(({ reason }) => reason === event.reason)) continue;
    notices.push({ kinds, reason: event.reason, message: event.message });
  }
  return notices;
}

function kindsOf(
  change: StatusChange,
  changes: readonly StatusChange[],
  before: Status,
  after: Status,
): readonly NoticeKind[] {
  switch (change.kind) {
    case 'version': {
      // The recovery of `Exported` is part of the notification of the new version.
      const endsFailure = changes.some(
        (other) => other.kind === 'condition' && hasFailedExport(other, before),
      );
      return endsFailure ? ['Published', 'Recovered'] : ['Published'];
    }
    case 'condition':
      return kindsOfCondition(change, changes, before, after);
    case 'job':
    case 'verdict':
    case 'pin':
    case 'unpin':
      return [];
    default:
      return change satisfies never;
  }
}

/** A failed start ends when the next one is confirmed: the outcome of the last export is shown again, which is not an event. */
function endOfFailure(change: StatusChange): Omit<Notice, 'kinds'> | undefined {
  if (change.kind !== 'condition' || change.type !== 'Exported') return undefined;
  if (change.before?.status !== 'False' || change.now?.status !== 'True') return undefined;
  if (isPostponed(change.before.reason)) return undefined;
  const { reason } = change.before;
  return { reason, message: `${reason} has ended. ${change.now.message}` };
}

type ConditionChange = Extract<StatusChange, { kind: 'condition' }>;

function hasFailedExport({ type, before: condition }: ConditionChange, before: Status): boolean {
  if (type !== 'Exported' || condition?.status !== 'False') return false;
  return !isHeld(condition.reason, before) && !isPostponed(condition.reason);
}

function kindsOfCondition(
  { type, before: was, now }: ConditionChange,
  changes: readonly StatusChange[],
  before: Status,
  after: Status,
): readonly NoticeKind[] {
  const isBad = now !== undefined && (type === 'Stalled') === (now.status === 'True');
  if (isBad) {
    // A person rejected it, or it only waits.
    if (now.reason === 'Rejected' || isPostponed(now.reason)) return [];
    return isHeld(now.reason, after) ? ['Held'] : ['Failed'];
  }
  if (was !== undefined && (isHeld(was.reason, before) || isPostponed(was.reason))) return [];
  const isReported = type === 'Exported' && changes.some(({ kind }) => kind === 'version');
  return isReported ? [] : ['Recovered'];
}

/** A gate, or a person's decision, holds an export that is complete. */
function isHeld(reason: string, { candidate }: Status): boolean {
  return candidate?.reason === reason || reason === 'Rejected';
}
