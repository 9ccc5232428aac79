// When to look at a resource again without being told. Every instant at which the choice or the status could
// change by time alone is listed here. Invariants: before it, choose on unchanged input is none; a process that
// lost its memory wakes no later; never more than about an hour ahead.

import { readInstant } from '../staticexport/instant.ts';
import type { TargetReason } from '../staticexport/reasons.ts';
import { lookAgainMs } from './access.ts';
import { maxSends, resendTime } from './adopt.ts';
import { isHeldAgainstKey } from './forbidden-call.ts';
import { graceMs, refreshTime } from './link-timing.ts';
import { isOutputTaken, knownClock, type Observation, unreadOutput } from './observation.ts';
import { spreadOf } from './spread.ts';
import type { Plan, State } from './state.ts';

const hourMs = 3_600_000;
const outputLookMs = 60_000;
const targetLookMs = 60_000;
const waitingReasons: readonly string[] = [
  'NotGranted',
  'Refused',
  'Pending',
] satisfies readonly TargetReason[];
/** Whoever reads an archive wakes the resource when it ends; this is for a wake-up that got lost. */
export const inspectingLookMs = 60_000;

/**
 * @param plan what would be chosen for this observation now
 * @returns epoch ms; `observation.now` when there is something to do already
 */
export function nextWake(observation: Observation, plan: Plan): number {
  const { now, uid } = observation;
  const isWaiting = isReading(observation, plan);
  if (plan.action.kind !== 'none' && !isWaiting) return now;
  const fullLook = now + hourMs - Math.floor(spreadOf(uid, 'look') * (hourMs / 10));
  const instants = [...timersOf(observation, plan.state)].filter((at) => at > now);
  // Decisions see whole seconds: looking within the second before an instant would see nothing, and look again.
  const latest = isWaiting ? now + inspectingLookMs : fullLook;
  return Math.ceil(Math.min(latest, ...instants) / 1000) * 1000;
}

/** Nothing to do but wait for the archive that is being read. */
function isReading({ process }: Observation, { action }: Plan): boolean {
  return action.kind === 'inspect' && process.candidate?.reading === 'running';
}

function* timersOf(observation: Observation, state: State): Generator<number> {
  const { status, uid, wanted } = observation;
  // While the API may not be called, the operations' own times bring nothing.
  const isOpen = state.access.kind === 'open';
  if (state.access.kind === 'closed') yield state.access.lookAt;
  if (state.export.kind === 'running') yield state.export.timeoutAt;
  // Nothing tells when somebody gives up the name, or a right is given back.
  const isOutputHeld = isOutputTaken(observation) || unreadOutput(observation) !== undefined;
  if (isOutputHeld) yield observation.now + outputLookMs;
  // A mark that was sent for the last time ends by itself.
  const { start } = status;
  if (start !== undefined && start.attempts >= maxSends) {
    yield resendTime(start, observation.now, observation.requestTimeoutMs);
  }
  if (isOpen) yield* exportTimers(state.export);
  const { link } = state;
  if (link.kind === 'fresh') yield link.refreshAt;
  if (isOpen && (link.kind === 'waiting' || link.kind === 'unissuable')) yield link.until;
  const published = knownClock(observation);
  if (published !== undefined) {
    yield refreshTime(uid, published, wanted);
    // The first whole second past the grace, when LinkFresh turns.
    yield Math.floor((refreshTime(uid, published, wanted) + graceMs(published)) / 1000) * 1000 + 1000;
    yield published.expiresAt;
  }
  yield readInstant(status.nextExportTime) ?? 0;
  for (const { synced, reason, retryTime } of status.targets ?? []) {
    yield readInstant(retryTime) ?? 0;
    // No event says that an object consents or that a document was corrected, and a plan's end may be lost.
    const isWaiting = !synced && retryTime === undefined && waitingReasons.includes(reason);
    if (isWaiting && !wanted.isSuspended) yield observation.now + targetLookMs;
  }
  for (const failure of [status.failures?.export, status.failures?.poll, status.failures?.link]) {
    yield readInstant(failure?.retryTime) ?? 0;
    if (isHeldAgainstKey(failure, observation.now)) yield observation.now + lookAgainMs;
  }
}

function* exportTimers(operation: State['export']): Generator<number> {
  switch (operation.kind) {
    case 'waiting':
      yield operation.until;
      return;
    case 'unconfirmed':
      yield operation.resendAt;
      return;
    case 'running':
      yield operation.pollAt;
      return;
    case 'late':
      yield operation.pollAt;
      yield* exportTimers(operation.next);
      return;
    case 'complete':
      yield operation.notBefore;
      return;
    case 'resting':
    case 'due':
    case 'held':
      return;
    default:
      operation satisfies never;
  }
}
