// What Ready, Reconciling and Stalled say beside their reason: the reason's sentence, the facts that belong to it,
// and the way on. Pure. Invariant: nothing here ticks; a message that counted down would be a status write a second.

import { annotations } from '../../staticexport/names.ts';
import {
  type ReadyReason,
  readyReasons,
  reconcilingReasons,
  stalledReasons,
} from '../../staticexport/reasons.ts';
import type { Failure } from '../../staticexport/status-schema.ts';
import { type Observation, pendingRequest } from '../observation.ts';
import type { State } from '../state.ts';
import { factsOf } from './facts.ts';
import { describeFailure, describeLinkFailure, describeRetry, describeTry } from './failure-words.ts';

const sentences = { ...readyReasons, ...reconcilingReasons, ...stalledReasons };

/** The whole message of a reason, unbounded. */
export function describeReady(observation: Observation, state: State, reason: ReadyReason): string {
  const own = sentences[reason];
  return [
    own,
    factsOf(reason, observation),
    detailOf(observation, state, reason),
    waitingRequest(observation),
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

function detailOf(observation: Observation, state: State, reason: ReadyReason): string | undefined {
  const { failures } = observation.status;
  switch (reason) {
    case 'InvalidSpec':
      return observation.specProblems.join(', ');
    case 'Published':
      return versionFacts(observation);
    case 'Pinned':
    case 'Suspended':
      return activeVersion(observation);
    case 'BackingOff':
      return waitFacts(observation, state);
    case 'PinPending':
      return nextTry(laneFailure(observation, state), observation);
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

/** After a pin of an older version nothing changes by itself: what is newer must be asked for. */
function versionFacts(observation: Observation): string | undefined {
  const { active, history = [] } = observation.status;
  // An export has looked since, and found this content again.
  if (active === undefined || active.lastCheckTime !== undefined) return activeVersion(observation);
  const newer = history.map(({ version }) => version).filter((version) => version > active.version);
  const newest = newer.toSorted().at(-1);
  return newest === undefined
    ? activeVersion(observation)
    : `Version ${active.version}, by an earlier pin; ${newest} was newer. The next export publishes the newest content; to have it now, annotate: ${annotations.requestedAt}=<new token>`;
}

/** What the operation waits for: its own back-off, or what the API asked of everybody. */
function waitFacts(observation: Observation, state: State): string {
  const failed = nextTry(laneFailure(observation, state), observation);
  // Not until when: that moves with every call of whoever shares the key, and each would be a write here.
  return failed ?? 'The API asked all who use this key to wait.';
}

/** Of the operation that the export waits in. */
function laneFailure(observation: Observation, { export: operation }: State): Failure | undefined {
  return operation.kind === 'complete'
    ? pollFailure(observation, operation.subject.jobId)
    : observation.status.failures?.export;
}

function pollFailure({ status }: Observation, jobId: string | undefined): Failure | undefined {
  const failure = status.failures?.poll;
  return failure?.subject === jobId ? failure : undefined;
}

function nextTry(failure: Failure | undefined, observation: Observation): string | undefined {
  if (failure === undefined) return undefined;
  const { job } = observation.status;
  // Where the last job came to nothing, it is that job which was to be looked at.
  const about = job?.verdict === failure.reason ? factsOf(failure.reason, observation) : undefined;
  return about === undefined
    ? describeTry(failure, observation)
    : `${describeFailure(failure, observation)} ${about} ${describeRetry(failure)}`;
}

/** A requested export that is not started although somebody waits for it. */
function waitingRequest(observation: Observation): string | undefined {
  const { isSuspended, pin } = observation.wanted;
  if (!(isSuspended || pin !== undefined) || pendingRequest(observation) === undefined) return undefined;
  return `A requested export waits until the resource is no longer ${isSuspended ? 'suspended' : 'pinned'}.`;
}
