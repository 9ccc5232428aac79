// Chooses at most one action for a state, by priority: the published link, then complete exports, then polling,
// then starting. Pure. Invariant: before `nextWake`, the choice on unchanged input is none.

import { rateLimitTime } from './access.ts';
import { retryTime } from './backoff.ts';
import { isWorthInspecting } from './link-timing.ts';
import { copyLink, needsCopy, readsMirror } from './mirror.ts';
import type { Observation } from './observation.ts';
import { type Action, issuerOf, type Plan, type State, type Subject } from './state.ts';

const none: Action = { kind: 'none' };
export function choose(state: State, observation: Observation): Plan {
  const action = chooseAction(state, observation);
  return { state, action, because: describe(state, action) };
}

function chooseAction(state: State, observation: Observation): Action {
  const { now } = observation;
  const isOpen = state.access.kind === 'open';
  const refreshed = isOpen ? linkJob(state, now) : undefined;
  if (refreshed !== undefined) {
    const issuer = issuerOf(observation.status.active, observation.wanted);
    return { kind: 'issue', jobId: refreshed, cause: 'refresh', issuer };
  }
  if (state.export.kind === 'complete') {
    const { subject, notBefore } = state.export;
    const inspected = inspectionSource(subject, observation, isOpen);
    // An inspection needs the link in memory or the mirror, not the export API. Only its own back-off counts.
    if (inspected !== undefined && !isBackingOff(subject, observation))
      return { kind: 'inspect', subject, from: inspected };
    if (inspected === undefined && isOpen && notBefore <= now)
      return {
        ...{ kind: 'issue', jobId: subject.jobId, cause: 'subject' },
        issuer: issuerOf(subject, observation.wanted),
      };
  }
  return chooseMirror(state, observation) ?? (isOpen ? chooseExport(state, now) : none);
}

/** What the next inspection of the subject reads; `undefined`: it needs a link first. */
function inspectionSource(
  subject: Subject,
  observation: Observation,
  isOpen: boolean,
): 'link' | 'mirror' | undefined {
  if (usableCandidate(subject, observation)) return 'link';
  return readsMirror(subject, observation, isOpen) ? 'mirror' : undefined;
}

function chooseMirror({ access, mirror }: State, observation: Observation): Action | undefined {
  if (mirror.kind !== 'due') return undefined;
  const { work } = mirror;
  if (work === 'look') return { kind: 'mirror', work };
  const { active } = observation.status;
  switch (copyLink(observation)) {
    case 'published':
    case 'issued':
      return { kind: 'mirror', work };
    case 'issue': {
      const isClosed = access.kind !== 'open' || rateLimitTime(observation) !== undefined;
      if (active === undefined || isClosed) return undefined;
      const issuer = issuerOf(active, observation.wanted);
      return { kind: 'issue', jobId: active.jobId, cause: 'mirror', issuer };
    }
    case 'none':
      return undefined;
  }
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

/**
 * True if the archive must be inspected before publishing. A promoted candidate was inspected when it was held, and is
 * inspected again only for a copy that is required.
 */
export function needsInspection(subject: Subject, observation: Observation): boolean {
  const { isInspected } = observation.wanted.promotion;
  return isInspected && (subject.cause !== 'release' || needsCopy(subject, observation));
}

/** True if the link in memory is for this subject, and its inspection runs or it is valid long enough to publish. */
function usableCandidate(subject: Subject, observation: Observation): boolean {
  const { candidate } = observation.process;
  if (candidate?.jobId !== subject.jobId || candidate.link === undefined) return false;
  if (!needsInspection(subject, observation)) return false;
  if (candidate.inspection === 'running' || candidate.inspection === 'failed') return true;
  return isWorthInspecting(candidate.link, observation.now);
}

function describe(state: State, action: Action): string {
  const access = state.access.kind === 'open' ? '' : ` access=${state.access.reason}`;
  return `export=${state.export.kind} link=${state.link.kind} want=${state.want.kind}${access} → ${action.kind}`;
}
