// Who of several replicas works: the holder of one Lease. Another's is over when our own monotonic clock says that
// we have seen no sign of life for its duration, a lease that vanished included: its holder may still work. Ours is
// lost when the last renewal that we know of, counted from before it was sent and by the faster of our two clocks, is
// older than the renew deadline. Refuses: comparing clocks with others, working on after a lost lease, releasing one
// while work is under way, leaving one behind on shutdown.

import type { LeaseRecord, LeaseStore, StoredLease } from '../../kube/objects/lease-store.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import { PublishableError } from '../../wire/publishable-error.ts';
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
  /** Less than `leaseMs`: the holder gives up before anybody else may take over. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

export const defaultTimes: ElectionTimes = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** The lease went to somebody else or could not be renewed in time. The process must end. */
export class LeadershipLostError extends PublishableError {
  constructor() {
    super('LeadershipLost', 'leadership was lost; ending, so that another replica goes on alone');
  }
}

/** Our time as the holder of the lease. */
export interface Term {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /**
   * False from the renew deadline on, judged anew at every call: a process that was frozen knows it here before
   * any of its timers could tell.
   */
  isHeld(): boolean;
}

/** What a contender goes by: its options, and the time by which it judges its own lease. */
interface Contest extends ElectionOptions {
  readonly elapsed: () => number;
}

/**
 * Waits for the lease, runs `lead` while it is held, and releases it after `lead` has ended.
 *
 * @param shutdown ends the waiting; `lead` is told by its term only of a loss, and must end by itself on shutdown
 * @throws {LeadershipLostError} after `lead` has ended, and whatever `lead` throws
 */
export async function runElection(
  options: ElectionOptions,
  shutdown: AbortSignal,
  lead: (term: Term) => Promise<void>,
): Promise<void> {
  const contest: Contest = { ...options, elapsed: createElapsedTime(options.clock) };
  const held = await acquire(contest, shutdown);
  if (held === undefined) return;
  const { logger, identity, elapsed } = contest;
  logger.info({ identity }, 'leading');
  options.observe(true);
  const lost = new AbortController();
  const stopped = new AbortController();
  let { renewedAt } = held;
  const note = (at: number): void => {
    renewedAt = at;
  };
  const renewing = renew(contest, held, stopped.signal, note).then((outcome) => {
    if (outcome === 'lost') lost.abort(new LeadershipLostError());
    return outcome;
  });
  const isHeld = (): boolean => !lost.signal.aborted && elapsed() - renewedAt < options.times.renewDeadlineMs;
  const leading = lead({ lost: lost.signal, isHeld });
  leading.catch(() => {});
  try {
    await Promise.race([leading, abandonment(options, lost.signal, stopped.signal)]);
  } finally {
    stopped.abort();
    const outcome = await renewing;
    options.observe(false);
    if (outcome === 'held') await release(options);
  }
  if (lost.signal.aborted) throw new LeadershipLostError();
}

/**
 * Resolves when work that was told of the loss has had its time, which is less than what is left of the lease:
 * what does not listen must not keep the process, which writes as long as it lives.
 */
async function abandonment(
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
  /** By {@link Contest.elapsed}, from before the request that got it was sent. */
  readonly renewedAt: number;
}

/** @returns `undefined` on shutdown, with no lease left behind */
async function acquire(contest: Contest, shutdown: AbortSignal): Promise<Held | undefined> {
  const { store, identity, logger } = contest;
  let seen: Sight | undefined;
  let trouble: string | undefined;
  let mayBeOurs = false;
  while (!shutdown.aborted) {
    const renewedAt = contest.elapsed();
    try {
      const lease = await store.read(shutdown);
      mayBeOurs = lease?.holder === identity;
      const before = seen;
      seen = look(seen, lease, contest);
      if (seen?.holder !== before?.holder) tellSight(logger, lease, identity);
      if (isFree(seen, lease, contest)) {
        mayBeOurs = true;
        if (lease === undefined) seen ??= vanished(contest, seen);
        const held = { lease: await take(contest, lease), renewedAt };
        if (!shutdown.aborted) return held;
        break;
      }
      trouble = undefined;
    } catch (error) {
      if (shutdown.aborted) break;
      seen = distrust(seen);
      trouble = report(logger, error, trouble);
    }
    await pause(contest, shutdown);
  }
  if (mayBeOurs) await release(contest);
  return undefined;
}

/** What was there when something was seen to change last. */
interface Sight {
  /** `undefined`: no lease; empty: nobody knows. */
  readonly fingerprint: string | undefined;
  /** Empty: free. `undefined`: no lease. */
  readonly holder: string | undefined;
  /** Monotonic. */
  readonly at: number;
  readonly durationMs: number;
}

/**
 * @returns `undefined` for a newcomer that finds no lease: as a rule there never was one. Where somebody deleted it, its
 * holder is told at its next renewal; until then two may lead, and every write asks for the version that was read.
 */
function look(
  before: Sight | undefined,
  lease: StoredLease | undefined,
  options: ElectionOptions,
): Sight | undefined {
  if (before?.fingerprint === lease?.fingerprint) return before;
  if (lease === undefined) return vanished(options, before);
  const { fingerprint, holder, durationMs } = lease;
  return { fingerprint, holder, at: options.clock.monotonic(), durationMs };
}

/** Whoever held the one that is gone may not know yet, and makes it anew if it can. */
function vanished({ clock, times }: ElectionOptions, before: Sight | undefined): Sight {
  const durationMs = Math.max(times.leaseMs, before?.durationMs ?? 0);
  return { fingerprint: undefined, holder: undefined, at: clock.monotonic(), durationMs };
}

/**
 * A lease that is there shows whether it changed while we could not look. One that is not may have come and gone, a
 * newcomer's own try included: its time begins anew.
 */
function distrust(seen: Sight | undefined): Sight | undefined {
  return seen !== undefined && seen.fingerprint === undefined ? { ...seen, fingerprint: '' } : seen;
}

/** A standby has nothing else to say than whom it stands by for. */
function tellSight(logger: Logger, lease: StoredLease | undefined, identity: string): void {
  if (lease === undefined) logger.info({ identity }, 'the lease is gone; whoever held it has its time first');
  else if (lease.holder !== '' && lease.holder !== identity) {
    logger.info({ holder: lease.holder, identity }, 'standing by: another replica leads');
  }
}

function isFree(
  seen: Sight | undefined,
  lease: StoredLease | undefined,
  { identity, clock }: ElectionOptions,
): boolean {
  if (seen === undefined || lease?.holder === '' || lease?.holder === identity) return true;
  return clock.monotonic() - seen.at >= seen.durationMs;
}

/** Not given up on shutdown: a request that was sent may come to pass, and nobody would know. */
async function take(options: ElectionOptions, lease: StoredLease | undefined): Promise<StoredLease> {
  const { store, clock, times } = options;
  const limit = clock.deadline(times.renewDeadlineMs);
  if (lease === undefined) return store.create(record(options, undefined), limit);
  return store.replace(lease.resourceVersion, record(options, lease), limit);
}

/** So many would fit between two tries. */
const shortestTry = 20;

async function renew(
  contest: Contest,
  first: Held,
  stopped: AbortSignal,
  note: (renewedAt: number) => void,
): Promise<'held' | 'lost'> {
  const { store, clock, logger, times, elapsed } = contest;
  let held = first;
  let trouble: string | undefined;
  let isRepeated = false;
  const remainingMs = (): number => held.renewedAt + times.renewDeadlineMs - elapsed();
  for (;;) {
    if (!isRepeated) await pause(contest, stopped, remainingMs());
    if (stopped.aborted) return 'held';
    // What nobody would hear the answer of may be stored all the same, and keeps the others waiting for a lease's time.
    if (remainingMs() < times.retryMs / shortestTry) break;
    const renewedAt = elapsed();
    // A request that outlives the deadline is of no use to anybody.
    const deadline = clock.deadline(remainingMs());
    const wasRepeated: boolean = isRepeated;
    isRepeated = false;
    try {
      const lease = await store.replace(held.lease.resourceVersion, record(contest, held.lease), deadline);
      held = { lease, renewedAt };
      note(renewedAt);
      trouble = undefined;
    } catch (error) {
      trouble = report(logger, error, trouble);
      if (!(error instanceof ClusterError) || error.code !== 'Conflict') continue;
      const now = await store.read(deadline).catch(() => undefined);
      if (now !== undefined && now.holder !== contest.identity) break;
      if (now === undefined) continue;
      // Our own write whose answer was lost, or a stranger's touch: written over what is there at once, once. After a pause
      // the time may be over, or the stranger back.
      held = { ...held, lease: now };
      isRepeated = !wasRepeated;
    }
  }
  logger.error({ identity: contest.identity }, 'leadership lost');
  return 'lost';
}

/** Read first: the answer to our last write may have been lost, and the lease may be somebody else's by now. */
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
    logger.info({ error }, 'the lease could not be released; it runs out by itself');
  }
}

function record(options: ElectionOptions, before: StoredLease | undefined): LeaseRecord {
  const now = options.clock.now();
  const isOurs = before?.holder === options.identity;
  return {
    holder: options.identity,
    durationMs: options.times.leaseMs,
    acquiredAt: isOurs && before !== undefined && !Number.isNaN(before.acquiredAt) ? before.acquiredAt : now,
    renewedAt: now,
    transitions: before === undefined ? 0 : before.transitions + (isOurs ? 0 : 1),
  };
}

/** Says it once per kind of trouble; returns the code to compare the next one with. */
function report(logger: Logger, error: unknown, before: string | undefined): string {
  const code = error instanceof PublishableError ? error.code : 'Unexpected';
  const isRace = code === 'Conflict' || code === 'AlreadyExists';
  if (code !== before && !isRace) logger.warn({ error }, 'the lease cannot be read or written');
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
