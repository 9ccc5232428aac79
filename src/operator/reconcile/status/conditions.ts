// One function per condition: (observation, state) → status, reason, message. Stalled is decided first, because
// a stalled resource is never Ready (kstatus). No message changes with time alone: a message that counted down would
// cost a status write per second.

import {
  blockingReasons,
  type ExportedReason,
  exportedReasons,
  type LinkReason,
  linkReasons,
  type ReadyReason,
  type ReconcilingReason,
  readHoldReason,
  type StalledReason,
} from '#operator/staticexport/reasons.ts';
import type { Condition, Failure, TargetStatus } from '#operator/staticexport/status-schema.ts';
import { isUnanswered } from '../failure-policy.ts';
import { graceMs, isLifetimeTooShort, refreshTime } from '../link-timing.ts';
import { isMirrorFailure } from '../mirror.ts';
import {
  isOutputTaken,
  type Observation,
  publishedTimes,
  rejectedNow,
  unreadOutput,
} from '../observation.ts';
import type { AccessReason, State } from '../state.ts';
import { isStartRefused, unansweredCall } from './failed-calls.ts';
import {
  describeFailure,
  describeJob,
  describeLinkFailure,
  describeRetry,
  describeTry,
  joined,
  nextSentence,
  sentence,
} from './failure-words.ts';
import { claimMirrored, isMirrorLost } from './mirror-condition.ts';
import { describeReady } from './ready-words.ts';
import { describeDetails } from './reason-details.ts';
import { claimTargets } from './target-condition.ts';
import { type UndatedCondition, undatedCondition } from './undated-condition.ts';

export function isLinkExpired({ link }: State): boolean {
  return link.kind === 'expired' || ('isExpired' in link && link.isExpired);
}

/** All claims that hold; `Reconciling`, `Stalled` and `TargetsSynced` only where they apply. */
export function claimConditions(
  observation: Observation,
  state: State,
  targets: readonly TargetStatus[],
): readonly UndatedCondition[] {
  const stalled = stalledReason(observation, state);
  const reconciling = stalled === undefined ? reconcilingReason(observation, state) : undefined;
  return [
    claimReady(observation, state, stalled, reconciling),
    ...(reconciling === undefined
      ? []
      : [
          undatedCondition(
            'Reconciling',
            'True',
            reconciling,
            describeReady(observation, state, reconciling),
          ),
        ]),
    ...(stalled === undefined
      ? []
      : [undatedCondition('Stalled', 'True', stalled, describeReady(observation, state, stalled))]),
    claimExported(observation, state),
    ...(isLinkUnused(observation, state) ? [] : [claimLinkFresh(observation, state)]),
    ...claimMirrored(observation, state),
    ...(targets.length === 0 ? [] : [claimTargets(targets)]),
  ];
}

function stalledReason(observation: Observation, state: State): StalledReason | undefined {
  const { status, wanted, specProblems } = observation;
  if (specProblems.length > 0) return 'InvalidSpec';
  const isWanting = state.want.kind !== 'satisfied' || isLinkExpired(state);
  if (isOutputTaken(observation)) return 'OutputNotOwned';
  if (unreadOutput(observation) !== undefined) return 'OutputUnreadable';
  if (state.access.kind === 'closed' && state.access.reason !== 'KeyMissing' && isWanting)
    return state.access.reason;
  if (state.export.kind === 'held' && state.export.why === 'InvalidSchedule') return 'InvalidSchedule';
  if (state.want.kind === 'impossible') return state.want.reason;
  if (isWanting && isStartRefused(observation, state)) return 'StartRefused';
  const isHeld = state.want.kind === 'first' || state.want.kind === 'inputs' || isLinkExpired(state);
  if (!isHeld || wanted.isSuspended || state.export.kind !== 'resting') return undefined;
  // An expired link has another cause than a rejection.
  const isRejected = state.want.kind !== 'satisfied' && rejectedNow(observation) !== undefined;
  return readHoldReason(status.candidate?.reason) ?? (isRejected ? 'Rejected' : undefined);
}

function reconcilingReason(observation: Observation, state: State): ReconcilingReason | undefined {
  const { wanted, now } = observation;
  if (state.want.kind === 'satisfied' || state.want.kind === 'impossible' || wanted.isSuspended)
    return undefined;
  if (state.access.kind === 'closed') return 'KeyMissing';
  if (state.want.kind === 'pin') return 'PinPending';
  const operation = state.export.kind === 'late' ? state.export.next : state.export;
  if (unansweredCall(observation, { ...state, export: operation }) !== undefined)
    return 'ExportApiUnreachable';
  switch (operation.kind) {
    case 'running':
      return 'Exporting';
    case 'complete':
      return operation.notBefore > now ? 'BackingOff' : 'Inspecting';
    case 'waiting':
      return 'BackingOff';
    case 'unconfirmed':
      return 'StartUnconfirmed';
    case 'due':
    case 'resting':
    case 'held':
    case 'late':
      return 'StartPending';
    default:
      return operation satisfies never;
  }
}

function claimReady(
  observation: Observation,
  state: State,
  stalled: StalledReason | undefined,
  reconciling: ReconcilingReason | undefined,
): UndatedCondition {
  const ready = (status: 'True' | 'False', reason: ReadyReason): UndatedCondition =>
    undatedCondition('Ready', status, reason, describeReady(observation, state, reason));
  if (stalled !== undefined) return ready('False', stalled);
  if (reconciling !== undefined) return ready('False', reconciling);
  if (isLinkExpired(state)) return ready('False', 'LinkExpired');
  if (state.link.kind === 'unused' && isMirrorLost(observation, state)) return ready('False', 'NotMirrored');
  // The spec is not satisfied, and the resource is neither stalled nor in progress: it is suspended.
  if (state.want.kind !== 'satisfied') return ready('False', 'Suspended');
  if (observation.wanted.isSuspended) return ready('True', 'Suspended');
  return ready('True', observation.wanted.pin === undefined ? 'Published' : 'Pinned');
}

const startVerdicts = ['JobFailed', 'TimedOut', 'JobLost', 'BundleRejected'];

/**
 * Why the export API cannot be called while a version is published, whether or not a call is due: the next link needs it
 * too. Before the first version, Stalled and Reconciling report it, and Exported stays Unknown.
 */
function exportObstacle({ process }: Observation, state: State): AccessReason | undefined {
  if (state.access.kind === 'open' || state.want.kind === 'first') return undefined;
  const operation = state.export.kind === 'late' ? state.export.next : state.export;
  // Inspecting an archive needs the link in memory, not the export API.
  const isInHand = operation.kind === 'complete' && process.candidate?.jobId === operation.subject.jobId;
  return isInHand ? undefined : state.access.reason;
}

function claimExported(observation: Observation, state: State): UndatedCondition {
  const { job, failures, conditions } = observation.status;
  const exported = (value: Condition['status'], reason: ExportedReason, detail?: string): UndatedCondition =>
    undatedCondition(
      'Exported',
      value,
      reason,
      joined(exportedReasons[reason], describeDetails(reason, observation) ?? detail),
    );
  const obstacle = exportObstacle(observation, state);
  if (obstacle !== undefined) return exported('False', obstacle);
  const { unwritten } = observation;
  if (unwritten !== undefined)
    return exported(
      'False',
      'OutputWriteFailed',
      joined(sentence(unwritten), nextSentence('Retrying.', observation)),
    );
  const { export: starting, start: waiting } = failures ?? {};
  const isIdle = state.export.kind !== 'running' && state.export.kind !== 'complete';
  // A scheduled start that keeps its distance says nothing about the last export.
  if (isIdle && (waiting?.reason === 'AnotherExportRuns' || waiting?.reason === 'StartBudgetUsed'))
    return exported('False', waiting.reason, describeTry(waiting, observation));
  if (isIdle && starting !== undefined && starting.count > 0 && !startVerdicts.includes(starting.reason)) {
    return exported('False', startFailureReason(starting.reason), describeTry(starting, observation));
  }
  const unanswered = isIdle ? undefined : unansweredCall(observation, state);
  if (unanswered !== undefined)
    return exported('False', 'ExportApiUnreachable', describeTry(unanswered, observation));
  if (
    state.export.kind === 'complete' &&
    failures?.poll !== undefined &&
    !isUnanswered(failures.poll.reason)
  ) {
    const isUnwritten = failures.poll.reason === 'OutputWriteFailed';
    const { jobId, baseUrl } = state.export.subject;
    const about = describeJob({ id: jobId, baseUrl }, observation);
    const why = joined(
      describeFailure(failures.poll, observation),
      about,
      describeRetry(failures.poll, observation),
    );
    const reason = isMirrorFailure(failures.poll.reason) ? 'MirrorFailed' : 'InspectionFailed';
    return exported('False', isUnwritten ? 'OutputWriteFailed' : reason, why);
  }
  const verdict = job?.cause === 'Pin' ? undefined : job?.verdict;
  switch (verdict) {
    case 'Promoted':
    case 'Unchanged':
      return exported('True', verdict, job?.report?.join(' '));
    case 'JobFailed':
    case 'TimedOut':
    case 'JobLost':
    case 'BundleRejected':
    case 'Rejected':
      return exported('False', verdict);
    case 'Held':
      return exported('False', readHoldReason(job?.message) ?? 'AwaitingPromotion');
    case undefined:
      return isWrittenAgain(observation, state)
        ? exported('True', 'Promoted')
        : (keepExported(conditions) ??
            (observation.status.active === undefined
              ? exported('Unknown', 'Pending')
              : exported('True', 'Promoted')));
    default:
      return verdict satisfies never;
  }
}

/** True if what is published satisfies the spec, and the output write succeeded after a failure. */
function isWrittenAgain({ status: { conditions, failures } }: Observation, { want }: State): boolean {
  const isWithheld = failures?.poll?.reason === 'OutputWriteFailed';
  const before = conditions?.find(({ type }) => type === 'Exported');
  return want.kind === 'satisfied' && !isWithheld && before?.reason === 'OutputWriteFailed';
}

function startFailureReason(code: string): ExportedReason {
  if (code === 'StartUnconfirmed') return code;
  return isUnanswered(code) ? 'ExportApiUnreachable' : 'StartRefused';
}

/** While a job runs, the outcome of the previous job is still the last outcome. What blocked calls has ended. */
function keepExported(conditions: readonly Condition[] | undefined): UndatedCondition | undefined {
  const before = conditions?.find(({ type }) => type === 'Exported');
  if (before === undefined || !isExportedReason(before.reason) || blockingReasons.has(before.reason))
    return undefined;
  return undatedCondition('Exported', before.status, before.reason, before.message);
}

function isExportedReason(reason: string): reason is ExportedReason {
  return Object.hasOwn(exportedReasons, reason);
}

function claimLinkFresh(observation: Observation, state: State): UndatedCondition {
  const { uid, wanted, now, status } = observation;
  const fresh = (value: Condition['status'], reason: LinkReason, failure?: Failure): UndatedCondition => {
    const failed = failure && describeLinkFailure(failure, observation, state);
    // The details of a valid link are its whole message.
    const own = reason === 'Fresh' ? undefined : linkReasons[reason];
    return undatedCondition(
      'LinkFresh',
      value,
      reason,
      joined(own, describeDetails(reason, observation), failed),
    );
  };
  const published = publishedTimes(observation);
  if (state.link.kind === 'none') return fresh('Unknown', 'NotPublished');
  if (state.link.kind === 'unissuable') return fresh('False', 'JobGone');
  const failure = status.failures?.link;
  if (isLinkExpired(state) || published === undefined) return fresh('False', 'Expired', failure);
  if (isLifetimeTooShort(published, wanted)) return fresh('False', 'LifetimeTooShort');
  if (now > refreshTime(uid, published, wanted) + graceMs(published)) return fresh('False', 'Due', failure);
  return fresh('True', 'Fresh', failure);
}

/** Nothing is published with a link, and nothing will be. */
function isLinkUnused({ wanted }: Observation, { link }: State): boolean {
  return link.kind === 'unused' || (link.kind === 'none' && !wanted.publishesLink);
}
