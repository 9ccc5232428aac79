// Leader election by one Lease. Another replica's lease has expired when it did not change for its duration by the
// local monotonic clock. This includes a deleted lease, because its holder may still work. The own lease is lost when
// the last known renewal is older than the renew deadline. Its age counts from before the request was sent, by the
// faster of the two local clocks. Refuses: comparing clocks with other replicas, working on after a lost lease,
// releasing it during work.

import type { LeaseRecord, LeaseStore, StoredLease } from '#operator/kube/objects/lease-store.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { createElapsedTime } from './elapsed-time.ts';

export interface ElectionOptions {
  readonly store: LeaseStore;
  /** Unique to this process. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly times: ElectionTimes;
  readonly observe: (isLeader: boolean) => void;
}

export interface ElectionTimes {
  readonly leaseMs: number;
  /** Less than `leaseMs`: the holder gives up before another replica may acquire the lease. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

/** Another replica holds the lease, or it could not be renewed in time. The process must exit. */
export class LeadershipLostError extends PublishableError {
  constructor() {
    super('LeadershipLost', 'leadership was lost; exiting so that another replica can lead');
  }
}

/** The time as holder of the lease. */
export interface Term {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /**
   * False from the renew deadline on, judged at every call: a process that was frozen learns it here before any of its
   * timers fires.
   */
  isHeld(): boolean;
}

/** Options, and the time by which the own lease is judged. */
interface ElectionRun extends ElectionOptions {
  readonly elapsed: () => number;
}

/**
 * Waits for the lease, runs `lead` while it is held, and releases it after `lead` has ended.
 *
 * @param shutdown ends the waiting; `lead` gets only a loss from its term, and must end by itself on shutdown
 * @throws {LeadershipLostError} after `lead` has ended, and whatever `lead` throws
 */
export async function runElection(
  options: ElectionOptions,
  shutdown: AbortSignal,
  lead: (term: Term) => Promise<void>,
): Promise<void> {
  const run: ElectionRun = { ...options, elapsed: createElapsedTime(options.clock) };
  const held = await acquire(run, shutdown);
  if (held === undefined) return;
  const { logger, identity, elapsed } = run;
  logger.info({ identity }, 'leading');
  options.observe(true);
  const lost = new AbortController();
  const stopped = new AbortController();
  let { renewedAt } = held;
  const onRenewed = (at: number): void => {
    renewedAt = at;
  };
  const renewing = renew(run, held, stopped.signal, onRenewed).then((outcome) => {
    if (outcome === 'lost') lost.abort(new LeadershipLostError());
    return outcome;
  });
  const isHeld = (): boolean => !lost.signal.aborted && elapsed() - renewedAt < options.times.renewDeadlineMs;
  const leading = lead({ lost: lost.signal, isHeld });
  leading.catch(() => {});
  try {
    await Promise.race([leading, gracePeriod(options, lost.signal, stopped.signal)]);
  } finally {
    stopped.abort();
    const outcome = await renewing;
    options.observe(false);
    if (outcome === 'held') await release(options);
  }
  if (lost.signal.aborted) throw new LeadershipLostError();
}

/**
 * Resolves when aborted work has had its grace period, which is shorter than the rest of the lease: work that ignores
 * the abort must not keep the process, which could still write.
 */
async function gracePeriod(
  { clock, times }: ElectionOptions,
  lost: AbortSignal,
  stopped: AbortSignal,
): Promise<void> {
  await new Promise<void>((resolve) => {
    lost.addEventListener('abort', () => resolve(), { once: true });
  });
  await clock.after((times.leaseMs - times.renewDeadlineMs) / 2, stopped).catch(() => {});
}

interface Held {
  readonly lease: StoredLease;
  /** By {@link ElectionRun.elapsed}, from before the request that got it was sent. */
  readonly renewedAt: number;
}

/** @returns `undefined` on shutdown, with no lease left behind */
async function acquire(run: ElectionRun, shutdown: AbortSignal): Promise<Held | undefined> {
  const { store, identity, logger } = run;
  let seen: Observation | undefined;
  let failureCode: string | undefined;
  let mayBeOwn = false;
  while (!shutdown.aborted) {
    const renewedAt = run.elapsed();
    try {
      const lease = await store.read(shutdown);
      mayBeOwn = lease?.holder === identity;
      const before = seen;
      seen = observe(seen, lease, run);
      if (seen?.holder !== before?.holder) logObservation(logger, lease, identity);
      if (isFree(seen, lease, run)) {
        mayBeOwn = true;
        if (lease === undefined) seen ??= observeDeleted(run, seen);
        const held = { lease: await writeLease(run, lease), renewedAt };
        if (!shutdown.aborted) return held;
        break;
      }
      failureCode = undefined;
    } catch (error) {
      if (shutdown.aborted) break;
      seen = forgetAbsence(seen);
      failureCode = logFailureOnce(logger, error, failureCode);
    }
    await pause(run, shutdown);
  }
  if (mayBeOwn) await release(run);
  return undefined;
}

/** The lease as it was when it was last seen to change. */
interface Observation {
  /** `undefined`: no lease; empty: unknown. */
  readonly fingerprint: string | undefined;
  /** Empty: free. `undefined`: no lease. */
  readonly holder: string | undefined;
  /** Monotonic. */
  readonly at: number;
  readonly durationMs: number;
}

/**
 * @returns `undefined` for a new replica that finds no lease: as a rule there never was one. Where it was deleted, its
 * holder learns that at its next renewal; until then two may lead, and every write requires the version that was read.
 */
function observe(
  before: Observation | undefined,
  lease: StoredLease | undefined,
  options: ElectionOptions,
): Observation | undefined {
  if (before?.fingerprint === lease?.fingerprint) return before;
  if (lease === undefined) return observeDeleted(options, before);
  const { fingerprint, holder, durationMs } = lease;
  return { fingerprint, holder, at: options.clock.monotonic(), durationMs };
}

/** The holder of a deleted lease may not know yet, and creates it again if it can. */
function observeDeleted({ clock, times }: ElectionOptions, before: Observation | undefined): Observation {
  const durationMs = Math.max(times.leaseMs, before?.durationMs ?? 0);
  return { fingerprint: undefined, holder: undefined, at: clock.monotonic(), durationMs };
}

/**
 * A lease that exists shows whether it changed while it could not be read. An absent one may have been created and deleted
 * meanwhile, also by this replica: its duration starts again.
 */
function forgetAbsence(seen: Observation | undefined): Observation | undefined {
  return seen !== undefined && seen.fingerprint === undefined ? { ...seen, fingerprint: '' } : seen;
}

/** A standby logs which replica leads. */
function logObservation(logger: Logger, lease: StoredLease | undefined, identity: string): void {
  if (lease === undefined)
    logger.info({ identity }, 'lease deleted; waiting one lease duration before acquiring it');
  else if (lease.holder !== '' && lease.holder !== identity) {
    logger.info({ holder: lease.holder, identity }, 'standing by: another replica leads');
  }
}

function isFree(
  seen: Observation | undefined,
  lease: StoredLease | undefined,
  { identity, clock }: ElectionOptions,
): boolean {
  if (seen === undefined || lease?.holder === '' || lease?.holder === identity) return true;
  return clock.monotonic() - seen.at >= seen.durationMs;
}

/** Not aborted on shutdown: a request that was sent may succeed without this process knowing. */
async function writeLease(options: ElectionOptions, lease: StoredLease | undefined): Promise<StoredLease> {
  const { store, clock, times } = options;
  const limit = clock.deadline(times.renewDeadlineMs);
  if (lease === undefined) return store.create(record(options, undefined), limit);
  return store.replace(lease.resourceVersion, record(options, lease), limit);
}

/** A request needs at least this share of the retry interval. */
const shortestAttempt = 20;

async function renew(
  run: ElectionRun,
  first: Held,
  stopped: AbortSignal,
  onRenewed: (renewedAt: number) => void,
): Promise<'held' | 'lost'> {
  const { store, clock, logger, times, elapsed } = run;
  let held = first;
  let failureCode: string | undefined;
  let isRepeated = false;
  const remainingMs = (): number => held.renewedAt + times.renewDeadlineMs - elapsed();
  for (;;) {
    if (!isRepeated) await pause(run, stopped, remainingMs());
    if (stopped.aborted) return 'held';
    // A renewal whose answer comes too late may be stored, and keeps other replicas waiting for another lease duration.
    if (remainingMs() < times.retryMs / shortestAttempt) break;
    const renewedAt = elapsed();
    const deadline = clock.deadline(remainingMs());
    const wasRepeated: boolean = isRepeated;
    isRepeated = false;
    try {
      const lease = await store.replace(held.lease.resourceVersion, record(run, held.lease), deadline);
      held = { lease, renewedAt };
      onRenewed(renewedAt);
      failureCode = undefined;
    } catch (error) {
      failureCode = logFailureOnce(logger, error, failureCode);
      if (!(error instanceof ClusterError) || error.code !== 'Conflict') continue;
      const now = await store.read(deadline).catch(() => undefined);
      if (now !== undefined && now.holder !== run.identity) break;
      if (now === undefined) continue;
      // An own write whose answer was lost, or a foreign edit: repeated once without a pause. After a pause the lease
      // may have expired, or been edited again.
      held = { ...held, lease: now };
      isRepeated = !wasRepeated;
    }
  }
  logger.error({ identity: run.identity }, 'leadership lost');
  return 'lost';
}

/** Reads first: the answer to the last write may have been lost, and another replica may hold the lease by now. */
async function release(options: ElectionOptions): Promise<void> {
  const { store, clock, logger, identity, times } = options;
  const limit = clock.deadline(times.renewDeadlineMs / 2);
  try {
    const lease = await store.read(limit);
    if (lease?.holder !== identity) return;
    const released: LeaseRecord = { ...record(options, lease), holder: '', durationMs: 1000 };
    await store.replace(lease.resourceVersion, released, limit);
    logger.info({ identity }, 'lease released');
  } catch (error) {
    logger.info({ error }, 'could not release the lease; it expires after its duration');
  }
}

function record(options: ElectionOptions, before: StoredLease | undefined): LeaseRecord {
  const now = options.clock.now();
  const isOwn = before?.holder === options.identity;
  return {
    holder: options.identity,
    durationMs: options.times.leaseMs,
    acquiredAt: isOwn && before !== undefined && !Number.isNaN(before.acquiredAt) ? before.acquiredAt : now,
    renewedAt: now,
    transitions: before === undefined ? 0 : before.transitions + (isOwn ? 0 : 1),
  };
}

/** Logs each kind of error once. @returns the code to compare the next one with */
function logFailureOnce(logger: Logger, error: unknown, before: string | undefined): string {
  const code = error instanceof PublishableError ? error.code : 'Unexpected';
  const isRace = code === 'Conflict' || code === 'AlreadyExists';
  if (code !== before && !isRace) logger.warn({ error }, 'could not read or write the lease; retrying');
  return code;
}

async function pause(
  options: ElectionOptions,
  signal: AbortSignal,
  atMostMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const waitMs = options.times.retryMs * (1 + 0.2 * options.random.fraction());
  await options.clock.after(Math.max(0, Math.min(waitMs, atMostMs)), signal).catch(() => {});
}
