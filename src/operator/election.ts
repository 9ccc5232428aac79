// Who of several replicas works: the holder of one Lease. Judged only by our own monotonic clock: a lease is
// over when we have seen no sign of life for its duration, and ours is lost when the last renewal that we know
// of, counted from before it was sent, is older than the renew deadline.
// Refuses: comparing clocks, working on after a lost lease, releasing one while work is under way.

import type { LeaseRecord, LeaseStore, StoredLease } from '../kube/lease-store.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import { ClusterError } from '../wire/cluster-error.ts';
import { PublishableError } from '../wire/publishable-error.ts';

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
  const held = await acquire(options, shutdown);
  if (held === undefined) return;
  const { logger, identity } = options;
  logger.info({ identity }, 'leading');
  options.observe(true);
  const lost = new AbortController();
  const stopped = new AbortController();
  let renewedAt = held.renewedAt;
  const note = (at: number): void => {
    renewedAt = at;
  };
  const renewing = renew(options, held, stopped.signal, note).then((end) => {
    if (end.outcome === 'lost') lost.abort(new LeadershipLostError());
    return end;
  });
  const isHeld = (): boolean =>
    !lost.signal.aborted && options.clock.monotonic() - renewedAt < options.times.renewDeadlineMs;
  const leading = lead({ lost: lost.signal, isHeld });
  leading.catch(() => {});
  try {
    await Promise.race([leading, abandonment(options, lost.signal, stopped.signal)]);
  } finally {
    stopped.abort();
    const end = await renewing;
    options.observe(false);
    if (end.outcome === 'held') await release(options, end.held);
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
  /** Monotonic, from before the request that got it was sent. */
  readonly renewedAt: number;
}

async function acquire(options: ElectionOptions, shutdown: AbortSignal): Promise<Held | undefined> {
  const { store, clock, identity, logger } = options;
  let seen: { readonly fingerprint: string; readonly at: number } | undefined;
  let trouble: string | undefined;
  while (!shutdown.aborted) {
    const sentAt = clock.monotonic();
    try {
      const lease = await store.read(shutdown);
      if (lease === undefined)
        return { lease: await store.create(record(options, undefined), shutdown), renewedAt: sentAt };
      if (seen?.fingerprint !== lease.fingerprint) {
        if (lease.holder !== '') logger.debug({ holder: lease.holder, identity }, 'somebody else leads');
        seen = { fingerprint: lease.fingerprint, at: clock.monotonic() };
      }
      const isFree = lease.holder === '' || lease.holder === identity;
      if (isFree || clock.monotonic() - seen.at >= lease.durationMs) {
        const taken = await store.replace(lease.resourceVersion, record(options, lease), shutdown);
        return { lease: taken, renewedAt: sentAt };
      }
      trouble = undefined;
    } catch (error) {
      if (shutdown.aborted) return undefined;
      trouble = report(logger, error, trouble);
    }
    await pause(options, shutdown);
  }
  return undefined;
}

type RenewalEnd = { readonly outcome: 'held'; readonly held: Held } | { readonly outcome: 'lost' };

async function renew(
  options: ElectionOptions,
  first: Held,
  stopped: AbortSignal,
  note: (renewedAt: number) => void,
): Promise<RenewalEnd> {
  const { store, clock, logger, times } = options;
  let held = first;
  let trouble: string | undefined;
  const remainingMs = (): number => held.renewedAt + times.renewDeadlineMs - clock.monotonic();
  for (;;) {
    await pause(options, stopped, remainingMs());
    if (stopped.aborted) return { outcome: 'held', held };
    if (remainingMs() <= 0) break;
    const sentAt = clock.monotonic();
    // A request that outlives the deadline is of no use to anybody.
    const deadline = clock.deadline(remainingMs());
    try {
      const lease = await store.replace(held.lease.resourceVersion, record(options, held.lease), deadline);
      held = { lease, renewedAt: sentAt };
      note(sentAt);
      trouble = undefined;
    } catch (error) {
      trouble = report(logger, error, trouble);
      if (!(error instanceof ClusterError) || error.code !== 'Conflict') continue;
      const now = await store.read(deadline).catch(() => undefined);
      if (now !== undefined && now.holder !== options.identity) break;
      // Our own write whose answer was lost, or a stranger's touch: go on from what is there.
      if (now !== undefined) held = { ...held, lease: now };
    }
  }
  logger.error({ identity: options.identity }, 'leadership lost');
  return { outcome: 'lost' };
}

async function release(options: ElectionOptions, { lease }: Held): Promise<void> {
  const { store, clock, logger } = options;
  const released: LeaseRecord = { ...record(options, lease), holder: '', durationMs: 1000 };
  try {
    await store.replace(lease.resourceVersion, released, clock.deadline(options.times.renewDeadlineMs / 2));
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
