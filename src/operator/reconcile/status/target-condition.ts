// The condition TargetsSynced: what the states of all targets mean together. Pure. Invariant: a target that waits for a
// person or a rollout is not a problem: it makes the condition Unknown, never False.

import { type TargetReason, targetReasons } from '#operator/staticexport/reasons.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import { type UndatedCondition, undatedCondition } from './undated-condition.ts';

/** Reasons that are not problems: waiting for a first version, a document, a rollout or a sync, or suspended. */
const restingReasons: readonly string[] = [
  'NotPublished',
  'Suspended',
  'Pending',
  'RollingOut',
  'AwaitingSync',
  'AwaitingMerge',
  'AwaitingLink',
  'AwaitingCopy',
  'Paused',
  'DryRun',
] satisfies readonly TargetReason[];

/** `TargetsSynced`, of at least one target. Dry runs count only if there is nothing else. */
export function claimTargets(all: readonly TargetStatus[]): UndatedCondition {
  const written = all.filter(({ reason }) => reason !== 'DryRun');
  const targets = written.length === 0 ? all : written;
  const unsynced = targets.filter(({ synced }) => !synced);
  const wrong = unsynced.filter(({ reason }) => !restingReasons.includes(reason));
  const named = wrong.length > 0 ? wrong : unsynced;
  const [first] = named;
  if (first === undefined) return undatedCondition('TargetsSynced', 'True', 'Synced', targetReasons.Synced);
  const reason = isTargetReason(first.reason) ? first.reason : 'WriteFailed';
  const isPlain = first.message === undefined;
  if (wrong.length === 0 && isPlain)
    return undatedCondition('TargetsSynced', 'Unknown', reason, targetReasons[reason]);
  const names = named.map(
    ({ name, object, message }) => `${name} (${object}${message === undefined ? '' : `: ${message}`})`,
  );
  return undatedCondition(
    'TargetsSynced',
    wrong.length === 0 ? 'Unknown' : 'False',
    reason,
    `${targetReasons[reason]} ${names.join(', ')}`,
  );
}

function isTargetReason(reason: string): reason is TargetReason {
  return Object.hasOwn(targetReasons, reason);
}
