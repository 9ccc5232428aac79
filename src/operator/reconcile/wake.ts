// When to reconcile a resource again without an event. Lists every instant at which time alone could change the
// choice or the status. Invariants: before that instant, `choose` on unchanged input returns none. A process
// without its memory wakes no later, and the delay never exceeds about an hour.

import type { TargetReason } from '#operator/staticexport/reasons.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import type { TargetType } from '#operator/staticexport/target-schema.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { recheckMs } from './access.ts';
import { maxStartAttempts, resendTime } from './adopt.ts';
import { isHeldAgainstKey } from './forbidden-call.ts';
import { hookTime } from './hooks.ts';
import { graceMs, refreshTime } from './link-timing.ts';
import { isOutputTaken, type Observation, publishedTimes, unreadOutput } from './observation.ts';
import { spreadOf } from './spread.ts';
import type { Plan, State } from './state.ts';

const hourMs = 3_600_000;
const outputRecheckMs = 60_000;
const targetRecheckMs = 60_000;
const waitingReasons: readonly string[] = [
  'NotGranted',
  'Refused',
  'Pending',
  'OwnedElsewhere',
  'AwaitingSync',
  'Paused',
  'RolloutFailed',
  'DryRun',
] satisfies readonly TargetReason[];
/** Whether a write is followed by a rollout. Documents have none, and a repository is checked between reconciles. */
const rolloutAfter = {
  Values: false,
  HelmRelease: true,
  Application: true,
  Workload: true,
  Git: false,
} satisfies Readonly<Record<TargetType, boolean>>;
const rolloutTypes: ReadonlySet<string | undefined> = new Set(
  Object.entries(rolloutAfter).flatMap(([type, isExpected]) => (isExpected ? [type] : [])),
);
/** A rollout is checked soon after the write, and then less and less often. */
const [firstRolloutMs, lastRolloutMs] = [2000, 60_000];
/** After a rollout too: another client that reverts the write does so within its next interval. */
const [firstRevertMs, lastRevertMs] = [5000, 120_000];
const watchedMs = 10 * 60_000;
/** The end of an inspection wakes the resource. This delay covers a lost wake-up. */
export const inspectingRecheckMs = 60_000;

/**
 * @param plan the choice for this observation now
 * @returns epoch ms; `observation.now` when an action is due already
 */
export function nextWake(observation: Observation, plan: Plan): number {
  const { now, uid } = observation;
  const isWaiting = isInspecting(observation, plan);
  if (plan.action.kind !== 'none' && !isWaiting) return now;
  const fullRecheck = now + hourMs - Math.floor(spreadOf(uid, 'look') * (hourMs / 10));
  const instants = [...timersOf(observation, plan.state)].filter((at) => at > now);
  // Decisions see whole seconds. A reconcile within the second before an instant would see no change, and run
  // again.
  const latest = isWaiting ? now + inspectingRecheckMs : fullRecheck;
  return Math.ceil(Math.min(latest, ...instants) / 1000) * 1000;
}

/** True if the only action is to wait for the running inspection. */
function isInspecting({ process }: Observation, { action }: Plan): boolean {
  return action.kind === 'inspect' && process.candidate?.inspection === 'running';
}

function* timersOf(observation: Observation, state: State): Generator<number> {
  const { status, uid, wanted } = observation;
  // While the export API must not be called, the operations' own times change nothing.
  const isOpen = state.access.kind === 'open';
  if (state.access.kind === 'closed') yield state.access.recheckAt;
  if (state.export.kind === 'running') yield state.export.timeoutAt;
  // No watch reports that another owner released the name, or that a permission was restored.
  const isOutputHeld = isOutputTaken(observation) || unreadOutput(observation) !== undefined;
  if (isOutputHeld) yield observation.now + outputRecheckMs;
  // A start record that was sent for the last time expires.
  const { start } = status;
  if (start !== undefined && start.attempts >= maxStartAttempts) {
    yield resendTime(start, observation.now, observation.requestTimeoutMs);
  }
  if (isOpen) yield* exportTimers(state.export);
  yield* mirrorTimers(state, observation);
  const { link } = state;
  if (link.kind === 'fresh') yield link.refreshAt;
  if (isOpen && (link.kind === 'waiting' || link.kind === 'unissuable')) yield link.until;
  const published = publishedTimes(observation);
  if (published !== undefined) {
    yield refreshTime(uid, published, wanted);
    // The first whole second after the grace period, when LinkFresh changes.
    yield Math.floor((refreshTime(uid, published, wanted) + graceMs(published)) / 1000) * 1000 + 1000;
    yield published.expiresAt;
  }
  yield readInstant(status.nextExportTime) ?? 0;
  // While a job runs or a pin holds, the end of the quiet period changes nothing.
  const operation = state.export.kind === 'late' ? state.export.next : state.export;
  if (operation.kind === 'resting') yield hookTime(observation) ?? 0;
  for (const target of status.targets ?? []) {
    const { synced, reason, retryTime } = target;
    yield readInstant(retryTime) ?? 0;
    if (!wanted.isSuspended) yield rolloutCheckAt(target, observation.now);
    // No event reports an object's consent or a corrected document, and the wake-up at a plan's end may be lost.
    const isWaiting = !synced && retryTime === undefined && waitingReasons.includes(reason);
    if (isWaiting && !wanted.isSuspended) yield observation.now + targetRecheckMs;
  }
  for (const failure of [
    status.failures?.export,
    status.failures?.start,
    status.failures?.poll,
    status.failures?.link,
    status.failures?.mirror,
  ]) {
    yield readInstant(failure?.retryTime) ?? 0;
    if (isHeldAgainstKey(failure, observation.now)) yield observation.now + recheckMs;
  }
}

/** No watch reports a rollout or a revert. @returns 0 where nothing is expected */
function rolloutCheckAt({ type, reason, writeTime }: TargetStatus, now: number): number {
  if (!rolloutTypes.has(type)) return 0;
  // Without a write of its own, and after a clock was set back, the operator does not know when the rollout began.
  const age = Math.abs(now - (readInstant(writeTime) ?? 0));
  if (reason === 'RollingOut') return now + within(age / 2, firstRolloutMs, lastRolloutMs);
  return reason === 'Synced' && age < watchedMs ? now + within(age / 2, firstRevertMs, lastRevertMs) : 0;
}

/** The end of work on a copy wakes the resource; the delay covers a lost wake-up. */
function* mirrorTimers({ mirror }: State, { now }: Observation): Generator<number> {
  if (mirror.kind === 'copied') yield mirror.lookAt;
  if (mirror.kind === 'waiting') yield mirror.until;
  if (mirror.kind === 'working') yield now + inspectingRecheckMs;
}

const within = (ms: number, least: number, most: number): number => Math.min(most, Math.max(least, ms));

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
