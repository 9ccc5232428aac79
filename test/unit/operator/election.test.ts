// Leadership over a lease in memory, with two contenders, a network that fails, and clocks that disagree.
// The one promise that matters: never two at work at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LeaseRecord, LeaseStore, StoredLease } from '../../../src/kube/lease-store.ts';
import { defaultTimes, LeadershipLostError, runElection } from '../../../src/operator/election.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import { ClusterError } from '../../../src/wire/cluster-error.ts';
import { type SteppedClock, settle, steppedClock } from '../../support/stepped-clock.ts';

/** What the API server keeps, and the faults between it and one contender. */
class Server {
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
}

type Network = 'up' | 'down' | 'answers-lost' | 'hanging';

class Contender {
  network: Network = 'up';
  isWorking = false;
  /** Our own judgement, asked at any moment. */
  isHeld: () => boolean = () => false;
  /** For so long its process stood still: its clock went on, and no timer of it has fired yet. */
  frozenMs = 0;
  /** Work that does not listen to the loss of its lease. */
  isDeaf = false;
  readonly shutdown = new AbortController();
  readonly ended: Promise<unknown>;

  constructor(server: Server, clock: SteppedClock, identity: string, skewMs = 0) {
    const own = {
      ...clock,
      now: () => clock.now() + skewMs,
      monotonic: () => clock.monotonic() + this.frozenMs,
    };
    this.ended = runElection(
      {
        store: this.#store(server),
        identity,
        clock: own,
        random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0 },
        logger: silentLogger,
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

  #store(server: Server): LeaseStore {
    const through = async <T>(signal: AbortSignal, work: () => T): Promise<T> => {
      if (this.network === 'hanging') {
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new ClusterError('Unavailable', 'timeout')));
        });
      }
      if (this.network === 'down') throw new ClusterError('Unavailable', 'no network');
      const result = work();
      if (this.network === 'answers-lost') throw new ClusterError('Unavailable', 'no answer');
      return result;
    };
    return {
      read: (signal) => through(signal, () => server.lease),
      create: (record, signal) =>
        through(signal, () => {
          if (server.lease !== undefined) throw new ClusterError('AlreadyExists', 'exists');
          return server.put(record);
        }),
      replace: (resourceVersion, record, signal) =>
        through(signal, () => {
          if (server.lease?.resourceVersion !== resourceVersion)
            throw new ClusterError('Conflict', 'changed');
          return server.put(record);
        }),
    };
  }
}

function world(skewMs = 0) {
  const clock = steppedClock();
  const server = new Server();
  const first = new Contender(server, clock, 'first');
  const second = new Contender(server, clock, 'second', skewMs);
  return { clock, server, first, second };
}

test('one of two leads, and goes on leading', async () => {
  const { clock, first, second } = world();
  await clock.pass(60_000);
  assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
});

test('a leader that was frozen knows before any timer fires that it leads no more', async () => {
  const { clock, first } = world();
  await clock.pass(5_000);
  assert.equal(first.isHeld(), true);
  first.frozenMs = 10_000;
  assert.equal(first.isHeld(), false);
});

test('a leader that is gone without a word is replaced within the lease and one retry', async () => {
  const { clock, first, second } = world();
  await clock.pass(5_000);
  first.network = 'hanging';
  await clock.pass(defaultTimes.leaseMs + defaultTimes.retryMs);
  assert.equal(second.isWorking, true);
});

test('a released lease is taken at once', async () => {
  const { clock, server, first, second } = world();
  await clock.pass(5_000);
  first.shutdown.abort();
  await clock.pass(2_000);
  assert.equal(await first.ended, 'released');
  assert.equal(second.isWorking, true);
  assert.equal(server.lease?.transitions, 1);
});

test('a leader without network stops before the other may start', async () => {
  const { clock, first, second } = world();
  await clock.pass(5_000);
  first.network = 'down';
  await clock.pass(10_000);
  assert.equal(first.isWorking, false);
  assert.ok((await first.ended) instanceof LeadershipLostError);
  assert.equal(second.isWorking, false);
  await clock.pass(10_000);
  assert.equal(second.isWorking, true);
});

test('a leader whose requests hang stops at the renew deadline', async () => {
  const { clock, first } = world();
  await clock.pass(5_000);
  first.network = 'hanging';
  await clock.pass(10_000);
  assert.equal(first.isWorking, false);
});

test('work that does not listen is given up before the lease is over', async () => {
  const { clock, first } = world();
  await clock.pass(5_000);
  first.isDeaf = true;
  first.network = 'down';
  let hasEnded = false;
  void first.ended.then(() => {
    hasEnded = true;
  });
  await clock.pass(14_000);
  assert.equal(hasEnded, true);
});

test('a renewal whose answer was lost is found again', async () => {
  const { clock, first, second } = world();
  await clock.pass(5_000);
  first.network = 'answers-lost';
  await clock.pass(3_000);
  first.network = 'up';
  await clock.pass(60_000);
  assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
});

test('a lease that somebody else took is lost at the next renewal', async () => {
  const { clock, server, first } = world();
  await clock.pass(5_000);
  server.put({ holder: 'intruder', durationMs: 15_000, acquiredAt: 0, renewedAt: 1, transitions: 9 });
  await clock.pass(2_100);
  assert.ok((await first.ended) instanceof LeadershipLostError);
});

for (const skewMs of [-86_400_000, 86_400_000]) {
  test(`a clock that is ${skewMs / 3_600_000} hours off takes no lease away`, async () => {
    const { clock, first, second } = world(skewMs);
    await clock.pass(120_000);
    assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
  });
}

test('nobody waits for a lease after shutdown', async () => {
  const { clock, second } = world();
  await clock.pass(5_000);
  second.shutdown.abort();
  await settle();
  assert.equal(await second.ended, 'released');
});

test('property: whatever the networks do, never two work at once, and a healthy one works in the end', async () => {
  const network = fc.constantFrom<Network>('up', 'down', 'answers-lost', 'hanging');
  const step = fc.record({ first: network, second: network, ms: fc.nat(9_000) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { clock, server, first, second } = world(3_600_000);
      const both = () => first.isWorking && second.isWorking;
      for (const one of steps) {
        first.network = one.first;
        second.network = one.second;
        for (let left = one.ms; left > 0; left -= 500) {
          await clock.pass(Math.min(left, 500));
          assert.ok(!both(), 'two leaders');
        }
      }
      const fresh = new Contender(server, clock, 'fresh');
      first.network = 'up';
      second.network = 'up';
      await clock.pass(40_000);
      assert.equal([first, second, fresh].filter(({ isWorking }) => isWorking).length, 1);
    }),
    { numRuns: 40 },
  );
});
