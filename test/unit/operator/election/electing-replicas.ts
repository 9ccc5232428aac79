// Contenders for a lease in memory, each behind a network of its own that fails as the test says, with clocks that
// disagree, sleep and are set.

import { type ElectionTimes, runElection } from '#operator/election/election.ts';
import type { LeaseRecord, LeaseStore, StoredLease } from '#operator/kube/objects/lease-store.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { type SteppedClock, steppedClock } from '../../../support/stepped-clock.ts';

/** Of --lease-duration=15s, the default. */
export const defaultTimes: ElectionTimes = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** What the API server keeps, and the faults between it and one contender. */
export class Server {
  lease: StoredLease | undefined;
  #version = 0;

  put(record: LeaseRecord): StoredLease {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    this.lease = {
      holder: record.holder,
      durationMs: record.durationMs,
      transitions: record.transitions,
      acquiredAt: record.acquiredAt,
      fingerprint: `${record.holder} ${record.renewedAt} ${resourceVersion}`,
      resourceVersion,
    };
    return this.lease;
  }

  /** Somebody who is no contender writes something into it. */
  touch(): void {
    this.#version += 1;
    if (this.lease !== undefined) this.lease = { ...this.lease, resourceVersion: String(this.#version) };
  }
}

/**
 * `slow`: done at once, answered after a second, unless the caller has given up by then. `stalled`: done at once, and never
 * answered, which a request waits for as long as the real store lets it.
 */
export type Network = 'up' | 'down' | 'answers-lost' | 'hanging' | 'slow' | 'stalled';

export class Contender {
  network: Network = 'up';
  isWorking = false;
  /** Our own judgement, asked at any moment. */
  isHeld: () => boolean = () => false;
  /** For so long its process stood still: its clock went on, and no timer of it has fired yet. */
  frozenMs = 0;
  /** By how much its wall clock was set, or went on while the machine slept and the other clock stood still. */
  wallMs = 0;
  /** By how much its timers fire before their time, as the system's do by a part of a millisecond. */
  earlyMs = 0;
  /** Work that does not listen to the loss of its lease. */
  isDeaf = false;
  /** What its random numbers are. */
  chance = 0;
  /** When it read the lease, by the monotonic clock of the world. */
  readonly lookedAt: number[] = [];
  /** Its lines of log, from `info` on. */
  readonly told: string[] = [];
  readonly shutdown = new AbortController();
  readonly ended: Promise<unknown>;

  constructor(server: Server, clock: SteppedClock, identity: string, skewMs = 0) {
    const own = {
      ...clock,
      now: () => clock.now() + skewMs + this.wallMs,
      monotonic: () => clock.monotonic() + this.frozenMs,
      after: (ms: number, signal?: AbortSignal) => clock.after(Math.max(0, ms - this.earlyMs), signal),
    };
    this.ended = runElection(
      {
        store: this.#store(server, clock),
        identity,
        clock: own,
        random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => this.chance },
        logger: { ...silentLogger, info: (_fields, message) => this.told.push(message) },
        times: defaultTimes,
        observe: () => {},
      },
      this.shutdown.signal,
      async ({ lost, isHeld }) => {
        this.isWorking = true;
        this.isHeld = isHeld;
        await new Promise<void>((resolve) => {
          AbortSignal.any([lost, this.shutdown.signal]).addEventListener('abort', () => resolve());
        });
        if (this.isDeaf) await new Promise(() => {});
        this.isWorking = false;
      },
    ).then(
      () => 'released',
      (error: unknown) => error,
    );
  }

  #store(server: Server, clock: SteppedClock): LeaseStore {
    const through = async <T>(signal: AbortSignal, work: () => T): Promise<T> => {
      if (this.network === 'hanging') {
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new ClusterError('Unavailable', 'timeout')));
        });
      }
      if (this.network === 'down') throw new ClusterError('Unavailable', 'no network');
      const result = work();
      if (this.network === 'slow') await clock.after(1_000, signal);
      if (this.network === 'stalled') {
        await clock.after(defaultTimes.renewDeadlineMs / 2, signal).catch(() => {});
        throw new ClusterError('Unavailable', 'timeout');
      }
      if (this.network === 'answers-lost') throw new ClusterError('Unavailable', 'no answer');
      return result;
    };
    return {
      read: (signal) => {
        this.lookedAt.push(clock.monotonic());
        return through(signal, () => server.lease);
      },
      create: (record, signal) =>
        through(signal, () => {
          if (server.lease !== undefined) throw new ClusterError('AlreadyExists', 'exists');
          return server.put(record);
        }),
      replace: (resourceVersion, record, signal) =>
        through(signal, () => {
          // As the real one: a lease that is gone is made anew by an update.
          if (server.lease !== undefined && server.lease.resourceVersion !== resourceVersion)
            throw new ClusterError('Conflict', 'changed');
          return server.put(record);
        }),
    };
  }
}

export function world(skewMs = 0) {
  const clock = steppedClock();
  const server = new Server();
  const first = new Contender(server, clock, 'first');
  const second = new Contender(server, clock, 'second', skewMs);
  return { clock, server, first, second };
}
