// Chooses at most one action for a state, by priority: the published link, then complete exports, then polling,
// then starting. Pure. Invariant: before `nextWake`, the choice on unchanged input is none.

import type { LinkTimes } from '../wire/publication.ts';
import { retryTime } from './backoff.ts';
import type { Observation } from './observation.ts';
import type { Action, Plan, State, Subject } from './state.ts';

const none: Action = { kind: 'none' };
/** A candidate's link must be valid this much longer to be worth publishing. */
const minRemainingMs = 5000;

/**
 * True if one link is enough for inspection and publication. The code that issues it and the code that uses it call
 * this.
 */
export function isValidLongEnough({ expiresAt }: Pick<LinkTimes, 'expiresAt'>, now: number): boolean {
  return expiresAt > now + minRemainingMs;
}

export function choose(state: State, observation: Observation): Plan {
  const action = chooseAction(state, observation);
  return { state, action, because: describe(state, action) };
}

function chooseAction(state: State, observation: Observation): Action {
  const { now } = observation;
  const candidate =
    state.export.kind === 'complete' ? usableCandidate(state.export.subject, observation) : undefined;
  const isOpen = state.access.kind === 'open';
  const { baseUrl } = observation.wanted;
  const refreshed = isOpen ? linkJob(state, now) : undefined;
  if (refreshed !== undefined) {
    const issuer = observation.status.active?.baseUrl ?? baseUrl;
    return { kind: 'issue', jobId: refreshed, cause: 'refresh', baseUrl: issuer };
  }
  if (state.export.kind === 'complete') {
    const { subject, notBefore } = state.export;
    // Inspecting an archive needs the link in memory, not the export API. Only its own back-off counts.
    if (candidate) return isBackingOff(subject, observation) ? none : { kind: 'inspect', subject };
    if (!isOpen || notBefore > now) return none;
    return { kind: 'issue', jobId: subject.jobId, cause: 'subject', baseUrl: subject.baseUrl ?? baseUrl };
  }
  return isOpen ? chooseExport(state, now) : none;
}

function isBackingOff({ jobId }: Subject, { status, now }: Observation): boolean {
  const failure = status.failures?.poll;
  return failure?.subject === jobId && retryTime(failure, now) !== undefined;
}

/** The job whose link must be replaced now. */
function linkJob({ link }: State, now: number): string | undefined {
  const isDue = link.kind === 'due' || link.kind === 'expired';
  return isDue || (link.kind === 'unissuable' && link.until <= now) ? link.jobId : undefined;
}

function chooseExport(state: State, now: number): Action {
  const operation = state.export;
  switch (operation.kind) {
    case 'running':
    case 'late':
      return operation.pollAt <= now ? { kind: 'poll', jobId: operation.jobId } : none;
    case 'unconfirmed':
      return operation.resendAt <= now
        ? { kind: 'start', cause: operation.record.cause, record: operation.record }
        : none;
    case 'due':
      return { kind: 'start', cause: operation.cause, record: undefined };
    case 'resting':
    case 'waiting':
    case 'complete':
    case 'held':
      return none;
    default:
      return operation satisfies never;
  }
}

/** True if the archive must be inspected before publishing. A promoted candidate was inspected when it was held. */
export function needsInspection(subject: Subject, { wanted }: Observation): boolean {
  return wanted.promotion.isInspected && subject.cause !== 'release';
}

/** True if the link in memory is for this subject, and its inspection runs or it is valid long enough to publish. */
function usableCandidate(subject: Subject, observation: Observation): boolean {
  const { candidate } = observation.process;
  if (candidate?.jobId !== subject.jobId || !needsInspection(subject, observation)) return false;
  if (candidate.inspection === 'running' || candidate.inspection === 'failed') return true;
  return isWorthInspecting(candidate, observation.now);
}

/**
 * True if an inspection may begin with a link issued some time ago. A link from the future means a clock was set
 * back.
 */
export function isWorthInspecting(times: LinkTimes, now: number): boolean {
  return times.issuedAt <= now + minRemainingMs && isValidLongEnough(times, now);
}

function describe(state: State, action: Action): string {
  const access = state.access.kind === 'open' ? '' : ` access=${state.access.reason}`;
  return `export=${state.export.kind} link=${state.link.kind} want=${state.want.kind}${access} → ${action.kind}`;
}
