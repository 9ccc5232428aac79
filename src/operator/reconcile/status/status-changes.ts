// What changed between two statuses, once for all readers: events and the log choose from this list. Pure. Refuses: a
// refresh, a poll or a new message alone, because they change with every reconcile.

import type { ActiveVersion, Condition, JobStatus, Status } from '#operator/staticexport/status-schema.ts';

export type StatusChange =
  /** Another job is tracked. */
  | { readonly kind: 'job'; readonly job: JobStatus }
  /** The tracked job has an outcome. */
  | {
      readonly kind: 'verdict';
      readonly job: JobStatus;
      readonly verdict: NonNullable<JobStatus['verdict']>;
    }
  /** Another version is published. */
  | {
      readonly kind: 'version';
      readonly active: ActiveVersion;
      readonly previous: string | undefined;
      readonly isPinned: boolean;
    }
  /** A pin begins or stops to hold the version that is published already. */
  | { readonly kind: 'pin' | 'unpin'; readonly version: string }
  /** Status or reason of a condition; `now` is `undefined` if it no longer applies. */
  | {
      readonly kind: 'condition';
      readonly type: string;
      readonly before: Condition | undefined;
      readonly now: Condition | undefined;
    };

/** Stalled first, because it explains the others. */
const conditionTypes = ['Stalled', 'Ready', 'Exported', 'LinkFresh', 'Mirrored', 'TargetsSynced'];

/** @param before as read at the start of a reconcile; `after` as stored at its end */
export function findChanges(before: Status, after: Status): readonly StatusChange[] {
  return [
    ...jobChanges(before.job, after.job),
    ...versionChanges(before, after),
    ...conditionTypes.flatMap((type) => conditionChange(type, before, after)),
  ];
}

function jobChanges(before: JobStatus | undefined, job: JobStatus | undefined): readonly StatusChange[] {
  if (job === undefined) return [];
  const { verdict } = job;
  const isOther = job.id !== before?.id;
  return [
    ...(isOther ? [{ kind: 'job', job } as const] : []),
    ...(verdict !== undefined && (isOther || verdict !== before.verdict)
      ? [{ kind: 'verdict', job, verdict } as const]
      : []),
  ];
}

/** From these reasons a pin takes effect: no pin existed, or it named another version. */
const reasonsBeforePin: readonly (string | undefined)[] = [
  'Published',
  'PinPending',
  'PinnedVersionUnknown',
  'PinnedJobFailed',
  'PinnedContentChanged',
];
const reasonsAfterPin: readonly (string | undefined)[] = ['Published', 'StartPending', 'Exporting'];

function versionChanges(before: Status, after: Status): readonly StatusChange[] {
  const { active } = after;
  if (active === undefined) return [];
  const { version } = active;
  const previous = before.active?.version;
  const [was, is] = [conditionOf(before, 'Ready')?.reason, conditionOf(after, 'Ready')?.reason];
  if (previous !== version) return [{ kind: 'version', active, previous, isPinned: is === 'Pinned' }];
  if (is === 'Pinned' && reasonsBeforePin.includes(was)) return [{ kind: 'pin', version }];
  return was === 'Pinned' && reasonsAfterPin.includes(is) ? [{ kind: 'unpin', version }] : [];
}

function conditionChange(type: string, before: Status, after: Status): readonly StatusChange[] {
  const [was, now] = [conditionOf(before, type), conditionOf(after, type)];
  const isSame = was?.status === now?.status && was?.reason === now?.reason;
  return isSame ? [] : [{ kind: 'condition', type, before: was, now }];
}

function conditionOf({ conditions }: Status, type: string): Condition | undefined {
  return conditions?.find((one) => one.type === type);
}
