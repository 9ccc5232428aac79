// Messages of Ready, Reconciling and Stalled: the reason's sentence, its details, and what happens next. Pure.
// Invariant: no message changes with time alone. A message that counted down would cost a status write per second.

import { annotations } from '#operator/staticexport/names.ts';
import {
  type ReadyReason,
  readyReasons,
  reconcilingReasons,
  stalledReasons,
} from '#operator/staticexport/reasons.ts';
import type { Failure } from '#operator/staticexport/status-schema.ts';
import { pendingHook } from '../hooks.ts';
import { type Observation, pendingRequest } from '../observation.ts';
import type { StartDelay } from '../start-budget.ts';
import type { State } from '../state.ts';
import { describeFailure, describeLinkFailure, describeRetry, describeTry, joined } from './failure-words.ts';
import { describeDetails } from './reason-details.ts';

const sentences = { ...readyReasons, ...reconcilingReasons, ...stalledReasons };

/** Where no link is published. */
const withoutLink: Readonly<Partial<Record<ReadyReason, string>>> = {
  Published: 'The wanted version is published by its reference in the mirror.',
  Pinned:
    'The pinned version is published by its reference in the mirror. Exports resume when spec.pin is removed.',
  Suspended: 'spec.suspend is true: exports, promotions and copies are paused.',
};

/** The whole message of a reason, unbounded. */
export function describeReady(observation: Observation, state: State, reason: ReadyReason): string {
  const own = (state.link.kind === 'unused' ? withoutLink[reason] : undefined) ?? sentences[reason];
  return joined(
    own,
    describeDetails(reason, observation),
    detailOf(observation, state, reason),
    waitingRequest(observation),
    waitingSchedule(observation),
  );
}

function detailOf(observation: Observation, state: State, reason: ReadyReason): string | undefined {
  const { failures } = observation.status;
  switch (reason) {
    case 'InvalidSpec':
      return observation.specProblems.join(', ');
    case 'Published':
      return describeVersion(observation);
    case 'Pinned':
    case 'Suspended':
      return activeVersion(observation);
    case 'BackingOff':
    case 'ExportApiUnreachable':
    case 'StartRefused':
      return describeWait(observation, state);
    case 'PinPending':
      return nextTry(operationFailure(observation, state), observation);
    case 'Exporting':
      return nextTry(pollFailure(observation, observation.status.job?.id), observation);
    case 'StartUnconfirmed':
      return failures?.export && describeTry(failures.export, observation);
    case 'LinkExpired':
      return failures?.link && describeLinkFailure(failures.link, observation, state);
    default:
      return undefined;
  }
}

function activeVersion({ status: { active } }: Observation): string | undefined {
  return active && `Version ${active.version}.`;
}

/** After a pin of an older version nothing changes by itself: a person must request a newer version. */
function describeVersion(observation: Observation): string | undefined {
  const { active, history = [] } = observation.status;
  // An export has since confirmed this content.
  if (active === undefined || active.lastCheckTime !== undefined) return activeVersion(observation);
  const newer = history.map(({ version }) => version).filter((version) => version > active.version);
  const newest = newer.toSorted().at(-1);
  return newest === undefined
    ? activeVersion(observation)
    : `Version ${active.version} is published because of an earlier pin; ${newest} is newer. The next export publishes the newest content. To start it now, set the annotation ${annotations.requestedAt}=<new token>.`;
}

/** What the operation waits for: its own back-off, or the rate limit of the export API. */
function describeWait(observation: Observation, state: State): string {
  const failed = nextTry(operationFailure(observation, state), observation);
  // Without the time, which changes with every call of other resources with this key and would cost a write each.
  return failed ?? 'The export API asked for a pause with Retry-After. All resources with this key wait.';
}

/** The last failure of the operation that the export waits in. */
function operationFailure(observation: Observation, { export: operation }: State): Failure | undefined {
  if (operation.kind === 'running') return pollFailure(observation, operation.jobId);
  return operation.kind === 'complete'
    ? pollFailure(observation, operation.subject.jobId)
    : (observation.status.failures?.start ?? observation.status.failures?.export);
}

function pollFailure({ status }: Observation, jobId: string | undefined): Failure | undefined {
  const failure = status.failures?.poll;
  return failure?.subject === jobId ? failure : undefined;
}

function nextTry(failure: Failure | undefined, observation: Observation): string | undefined {
  if (failure === undefined) return undefined;
  const { job } = observation.status;
  // Where the last job failed, the message names that job.
  const about = job?.verdict === failure.reason ? describeDetails(failure.reason, observation) : undefined;
  return about === undefined
    ? describeTry(failure, observation)
    : joined(describeFailure(failure, observation), about, describeRetry(failure, observation));
}

/** A scheduled export that keeps its distance from others of its key. */
function waitingSchedule(observation: Observation): string | undefined {
  const waiting = observation.status.failures?.start;
  const isSpread = waiting?.reason === ('StartsSpread' satisfies StartDelay['code']);
  return isSpread ? describeTry(waiting, observation) : undefined;
}

/** A requested export that cannot start now. */
function waitingRequest(observation: Observation): string | undefined {
  const { isSuspended, pin } = observation.wanted;
  if (!(isSuspended || pin !== undefined)) return undefined;
  if (pendingRequest(observation) === undefined && pendingHook(observation) === undefined) return undefined;
  return `A requested export waits until ${isSuspended ? 'spec.suspend is false' : 'spec.pin is removed'}.`;
}
