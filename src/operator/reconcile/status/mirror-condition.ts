// The condition `Mirrored`: whether the published bundle lies in the mirror, read back. Pure. A mirror that does not answer
// says nothing about a copy that was there, so the status is Unknown then.

import { type MirrorReason, mirrorReasons } from '#operator/staticexport/reasons.ts';
import type { Condition, Failure } from '#operator/staticexport/status-schema.ts';
import {
  hasCopy,
  isMirrorFailure,
  isUnrepeatable,
  mirrorCodeOf,
  mirrorFailure,
  retentionFailure,
} from '../mirror.ts';
import type { Observation } from '../observation.ts';
import type { State } from '../state.ts';
import { describeRetry, joined } from './failure-words.ts';
import { type UndatedCondition, undatedCondition } from './undated-condition.ts';

/** Nothing, where the resource has no mirror. */
export function claimMirrored(observation: Observation, state: State): readonly UndatedCondition[] {
  const { status, wanted } = observation;
  if (wanted.mirror === undefined) return [];
  const mirrored = (
    value: Condition['status'],
    reason: MirrorReason,
    detail?: string,
  ): readonly UndatedCondition[] => [
    undatedCondition('Mirrored', value, reason, joined(mirrorReasons[reason], detail)),
  ];
  const { active } = status;
  const failure = mirrorFailure(observation) ?? subjectFailure(observation, state);
  const isCopied = hasCopy(observation);
  const detail = failure && describe(failure, observation);
  if (isUnrepeatable(observation))
    return mirrored('False', 'RulesChanged', joined(detail, holdOnNextVersion(observation)));
  if (failure !== undefined && (!isCopied || failure === mirrorFailure(observation))) {
    const reason = reasonOf(failure);
    // The loss stays the reason until another copy is there.
    if (active?.copyLossTime !== undefined && reason !== 'RulesChanged')
      return mirrored('False', 'Lost', detail);
    if (reason === 'RulesChanged')
      return mirrored('False', reason, joined(detail, holdOnNextVersion(observation)));
    const isUnsure = isCopied && (reason === 'Unreachable' || reason === 'OutputWriteFailed');
    return mirrored(isUnsure ? 'Unknown' : 'False', reason, detail);
  }
  if (active?.copyLossTime !== undefined) return mirrored('False', 'Lost');
  const kept = retentionFailure(observation);
  // The copy can be used, so the status stays True.
  if (isCopied && kept !== undefined) return mirrored('True', 'RetentionFailed', describe(kept, observation));
  if (isCopied) return mirrored('True', 'Copied', `${active?.version ?? ''}: ${active?.ref ?? ''}.`);
  const isCopying = active !== undefined || state.export.kind === 'complete';
  return mirrored('Unknown', isCopying ? 'Copying' : 'NotPublished');
}

/** What keeps the next version from taking the place of one that cannot be copied again, with the remedy. */
function holdOnNextVersion({ wanted, status: { candidate, job } }: Observation): string | undefined {
  if (wanted.isSuspended) return 'spec.suspend is true. The new version comes after you remove spec.suspend.';
  if (wanted.pin !== undefined)
    return 'spec.pin keeps this version. The new version comes after you remove spec.pin.';
  if (candidate === undefined || job?.verdict !== 'Held') return undefined;
  return `Candidate ${candidate.version} is held. Promote it.`;
}

/** True if the condition says that the published copy cannot be used. */
export function isMirrorLost(observation: Observation, state: State): boolean {
  return claimMirrored(observation, state).some(({ status }) => status === 'False');
}

/** Before the first copy, the failure of the export that makes it. */
function subjectFailure({ status }: Observation, { export: operation }: State): Failure | undefined {
  const failure = status.failures?.poll;
  const isOwn = operation.kind === 'complete' && failure?.subject === operation.subject.jobId;
  return isOwn && isMirrorFailure(failure.reason) ? failure : undefined;
}

function describe(failure: Failure, observation: Observation): string {
  return joined(failure.message, describeRetry(failure, observation));
}

function reasonOf({ reason }: Failure): MirrorReason {
  const code = mirrorCodeOf(reason);
  return isMirrorReason(code) ? code : 'CopyFailed';
}

function isMirrorReason(code: string): code is MirrorReason {
  return Object.hasOwn(mirrorReasons, code);
}
