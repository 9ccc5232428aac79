// Leadership over a lease in memory, with two contenders, a network that fails, a lease that somebody deletes, and
// clocks that disagree, sleep and are set.
// The one promise that matters: never two at work at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeadershipLostError } from '#operator/election/election.ts';
import * as fc from '../../../support/properties.ts';
import { settle, steppedClock } from '../../../support/stepped-clock.ts';
import { Contender, defaultTimes, type Network, Server, world } from './electing-replicas.ts';

test('one of two replicas leads and keeps leading', async () => {
  const { clock, first, second } = world();
  await clock.pass(60_000);
  assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
});

for (const [chance, everyMs] of [
  [0, 2_000],
  [0.999, 2_399.6],
] as const) {
  test(`each standby reads the lease at its own time: chance ${chance}`, async () => {
    const { clock, second } = world();
    second.chance = chance;
    await clock.pass(20_000);
    const [from = 0] = second.lookedAt;
    const expected = second.lookedAt.map((_time, index) => from + index * everyMs);
    assert.deepEqual(
      second.lookedAt.map((time) => Math.round(time)),
      expected.map((time) => Math.round(time)),
    );
    assert.ok(second.lookedAt.length >= 8);
  });
}

test('a leader that was frozen knows before any timer fires that it lost the lease', async () => {
  const { clock, first } = world();
  await clock.pass(5_000);
  assert.equal(first.isHeld(), true);
  first.frozenMs = 10_000;
  assert.equal(first.isHeld(), false);
});

test('a leader that vanishes is replaced within the lease duration and one retry', async () => {
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

test('a standby logs once which replica leads, and a leader that it released its lease', async () => {
  const { clock, first, second } = world();
  await clock.pass(60_000);
  assert.deepEqual(first.told, ['leading']);
  assert.deepEqual(second.told, ['standing by: another replica leads']);
  first.shutdown.abort();
  await clock.pass(2_000);
  assert.deepEqual(first.told.slice(1), ['lease released']);
  assert.deepEqual(second.told.slice(1), ['leading']);
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

test('work that ignores the abort is abandoned before the lease expires', async () => {
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

for (const [what, untilMs] of [
  ['a new lease', 0],
  ['a renewal', 5_000],
] as const) {
  test(`${what} counts from when it was sent, not from when it was answered`, async () => {
    const { clock, first } = world();
    if (untilMs > 0) await clock.pass(untilMs);
    // Sent within a second from here, answered a second after that.
    first.network = 'slow';
    await clock.pass(untilMs === 0 ? 2_000 : 3_000);
    first.network = 'hanging';
    await clock.pass(7_999);
    assert.equal(first.isHeld(), true);
    await clock.pass(1);
    assert.equal(first.isHeld(), false);
  });
}

test('on shutdown a lease that another replica holds by then is not released', async () => {
  const { clock, server, first, second } = world();
  // Its try to take the lease never arrives, and the other one takes it.
  first.network = 'hanging';
  await clock.pass(3_000);
  first.network = 'up';
  first.shutdown.abort();
  await clock.pass(30_000);
  assert.equal(await first.ended, 'released');
  assert.deepEqual([second.isWorking, server.lease?.holder], [true, 'second']);
});

test('a lease that another replica took is lost at the next renewal', async () => {
  const { clock, server, first } = world();
  await clock.pass(5_000);
  server.put({ holder: 'intruder', durationMs: 15_000, acquiredAt: 0, renewedAt: 1, transitions: 9 });
  await clock.pass(2_100);
  assert.ok((await first.ended) instanceof LeadershipLostError);
});

for (const skewMs of [-86_400_000, 86_400_000]) {
  test(`a clock that is ${skewMs / 3_600_000} hours wrong ends no leadership`, async () => {
    const { clock, first, second } = world(skewMs);
    await clock.pass(120_000);
    assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
  });
}

for (const isCutOff of [false, true]) {
  const who = isCutOff ? 'that is cut off' : 'that is well';
  test(`a lease deleted under a holder ${who} causes no second leader`, async () => {
    const { clock, server, first, second } = world();
    // Just before the other one looks, and long before the holder renews.
    await clock.pass(5_950);
    if (isCutOff) first.network = 'down';
    server.lease = undefined;
    for (let ms = 0; ms < 30_000; ms += 50) {
      await clock.pass(50);
      assert.ok(!(second.isWorking && (first.isWorking || first.isHeld())), `two leaders after ${ms} ms`);
    }
    assert.deepEqual([first.isWorking, second.isWorking], [!isCutOff, isCutOff]);
  });
}

test('a new replica that failed to create the lease does not take one that was deleted meanwhile', async () => {
  const { clock, server, first, second } = world();
  // Both find none, and the second one makes it. It leads on for longer than the first one's try is old.
  first.network = 'hanging';
  second.chance = 0.999;
  await clock.pass(7_300);
  assert.equal(second.isWorking, true);
  second.network = 'hanging';
  server.lease = undefined;
  first.network = 'up';
  for (let ms = 0; ms < 30_000; ms += 50) {
    await clock.pass(50);
    assert.ok(!(first.isWorking && second.isWorking), `two leaders after ${ms} ms`);
  }
  assert.equal(first.isWorking, true);
});

test('a new replica that finds the lease deleted leads at once, and the holder stops at its next renewal', async () => {
  const { clock, server, first } = world();
  // Just after a renewal: the longest way to the next one.
  await clock.pass(4_050);
  server.lease = undefined;
  const newcomer = new Contender(server, clock, 'newcomer');
  await clock.pass(0);
  assert.deepEqual([newcomer.isWorking, first.isWorking], [true, true]);
  await clock.pass(defaultTimes.retryMs * 1.2);
  assert.deepEqual([newcomer.isWorking, first.isWorking, first.isHeld()], [true, false, false]);
  assert.ok((await first.ended) instanceof LeadershipLostError);
});

test('a lease that never existed is acquired at once', async () => {
  const { clock, first } = world();
  await clock.pass(0);
  assert.equal(first.isWorking, true);
});

test('a machine that slept longer than the renew deadline stops leading before any timer fires', async () => {
  const { clock, first } = world();
  await clock.pass(5_000);
  first.wallMs = 10_000;
  assert.equal(first.isHeld(), false);
  await clock.pass(2_000);
  assert.ok((await first.ended) instanceof LeadershipLostError);
});

test('setting the clock back neither ends nor extends a lease', async () => {
  const { clock, first, second } = world();
  await clock.pass(5_000);
  first.wallMs = -3_600_000;
  assert.equal(first.isHeld(), true);
  await clock.pass(60_000);
  assert.deepEqual([first.isWorking, first.isHeld(), second.isWorking], [true, true, false]);
  first.frozenMs = 10_000;
  assert.equal(first.isHeld(), false);
});

test('a sleep is noticed also after the clock was set back by more', async () => {
  const { clock, first } = world();
  await clock.pass(5_000);
  first.wallMs = -3_600_000;
  assert.equal(first.isHeld(), true);
  first.wallMs += 10_000;
  assert.equal(first.isHeld(), false);
});

test("a clock that is set forward does not shorten a standby's wait for the lease", async () => {
  const { clock, first, second } = world();
  await clock.pass(5_000);
  second.wallMs = 86_400_000;
  await clock.pass(60_000);
  assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
});

for (const network of ['slow', 'answers-lost'] as const) {
  test(`a shutdown while the lease is being acquired leaves no held lease: ${network}`, async () => {
    const clock = steppedClock();
    const server = new Server();
    server.put({ holder: '', durationMs: 1_000, acquiredAt: 0, renewedAt: 1, transitions: 3 });
    const contender = new Contender(server, clock, 'first');
    contender.network = network;
    await clock.pass(500);
    assert.equal(server.lease?.holder, 'first');
    contender.shutdown.abort();
    contender.network = 'up';
    await clock.pass(1_000);
    assert.equal(await contender.ended, 'released');
    assert.equal(server.lease?.holder, '');
    assert.equal(contender.isWorking, false);
  });
}

test('a lease is released also if the answer to its last renewal was lost', async () => {
  const { clock, server, first } = world();
  await clock.pass(5_000);
  first.network = 'answers-lost';
  await clock.pass(2_000);
  first.network = 'up';
  first.shutdown.abort();
  await settle();
  assert.equal(await first.ended, 'released');
  assert.equal(server.lease?.holder, '');
});

test('no replica waits for a lease after shutdown', async () => {
  const { clock, second } = world();
  await clock.pass(5_000);
  second.shutdown.abort();
  await settle();
  assert.equal(await second.ended, 'released');
});

test('property: whatever the networks do, never two work at once, and a healthy one works in the end', async () => {
  const network = fc.constantFrom<Network>('up', 'down', 'answers-lost', 'hanging', 'slow', 'stalled');
  const step = fc.record({
    first: network,
    second: network,
    ms: fc.nat(9_000),
    isDeleted: fc.boolean(),
    wallMs: fc.constantFrom(0, 0, 0, -3_600_000, 4_000),
  });
  await fc.assertAsync(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { clock, server, first, second } = world(3_600_000);
      const both = () => first.isWorking && second.isWorking;
      for (const one of steps) {
        first.network = one.first;
        second.network = one.second;
        if (one.isDeleted) server.lease = undefined;
        first.wallMs += one.wallMs;
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
