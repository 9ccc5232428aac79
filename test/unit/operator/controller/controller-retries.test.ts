// When a failed reconcile is retried: back-off, the rest of the link's lifetime, conflicts, Retry-After.
// Invariant: no retry waits longer than a quarter of a valid link's remaining lifetime.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReconcileRefused } from '#operator/loop/refused-reconcile.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { observed, outcome, start } from './controller-run.ts';

test('failures back off exponentially up to five minutes, and a success resets them', async () => {
  const at: number[] = [];
  let isBroken = true;
  const { clock, queue, warnings } = start(async () => {
    at.push(clock.monotonic());
    if (isBroken) throw new ClusterError('Unavailable', 'down');
    return outcome(60_000);
  });
  queue.add('ns/a');
  await clock.pass(20 * 60_000);
  const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  assert.deepEqual(gaps.slice(0, 5), [500, 1_000, 2_000, 4_000, 8_000]);
  assert.equal(Math.max(...gaps), 300_000);
  assert.equal(warnings().length, at.length);
  isBroken = false;
  await clock.pass(300_000);
  isBroken = true;
  at.length = 0;
  await clock.pass(60_500);
  assert.equal((at[1] ?? 0) - (at[0] ?? 0), 500, 'the first retry after a success is soon');
});

for (const [fraction, expected] of [
  [0, [400, 720, 1_296]],
  [0.999, [600, 1_320, 2_904]],
] as const) {
  test(`simultaneous failures are retried spread by a fifth either way: random ${fraction}`, async () => {
    const at: number[] = [];
    const { clock, queue } = start(
      async () => {
        at.push(clock.monotonic());
        throw new ClusterError('Unavailable', 'down');
      },
      { random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => fraction } },
    );
    queue.add('ns/a');
    await clock.pass(10_000);
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    assert.deepEqual(gaps.slice(0, 3), expected);
  });
}

test('no back-off is longer than a quarter of the remaining lifetime of a valid link', async () => {
  const at: number[] = [];
  const world = start(
    async () => {
      at.push(world.clock.monotonic());
      throw new ClusterError('Unavailable', 'down');
    },
    { linkRemainingMs: () => diesAt - world.clock.monotonic() },
  );
  const diesAt = world.clock.monotonic() + 3_600_000;
  world.queue.add('ns/a');
  await world.clock.pass(3_600_000);
  const waits = at.slice(1).map((time, index) => ({ from: at[index] ?? 0, ms: time - (at[index] ?? 0) }));
  assert.equal(Math.max(...waits.map(({ ms }) => ms)), 300_000);
  for (const { from, ms } of waits)
    assert.ok(ms <= Math.max(500, Math.ceil((diesAt - from) / 4)), `${ms} at ${from}`);
  at.length = 0;
  await world.clock.pass(1_200_000);
  assert.ok(at.length <= 12, `${at.length} attempts after its expiry`);
});

test('quick attempts before a link expired cause no long wait after it', async () => {
  const at: number[] = [];
  const world = start(
    async () => {
      at.push(world.clock.monotonic());
      throw new ClusterError('Forbidden', 'no');
    },
    { linkRemainingMs: () => diesAt - world.clock.monotonic() },
  );
  const diesAt = world.clock.monotonic() + 8_000;
  world.queue.add('ns/a');
  await world.clock.pass(60_000);
  const first = at[0] ?? 0;
  for (const [index, time] of at.slice(1).entries())
    assert.ok(time - (at[index] ?? 0) <= 500 + (at[index] ?? 0) - first, `${time - first}`);
  assert.ok(at.length > 10, 'no quick attempts');
});

test('a reconcile whose status write was refused reports what it observed, and is retried by the lifetime of that link', async () => {
  const at: number[] = [];
  const lifeMs = 900_000;
  const { clock, queue, told } = start(
    async () => {
      at.push(clock.monotonic());
      const seen = { ...observed, linkExpiresAt: clock.now() + lifeMs };
      throw new ReconcileRefused(new ClusterError('Forbidden', 'no'), seen);
    },
    // What status says is old.
    { linkRemainingMs: () => -1 },
  );
  queue.add('ns/a');
  await clock.pass(3_600_000);
  assert.ok(told.every((one) => one?.report?.isReady === true));
  const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  assert.equal(Math.max(...waits), lifeMs / 4);
});

test('a conflict is retried at once without a warning', async () => {
  let passes = 0;
  const { clock, queue, results, warnings } = start(async () => {
    passes += 1;
    if (passes < 3) throw new ClusterError('Conflict', 'changed');
    return outcome(undefined);
  });
  queue.add('ns/a');
  await clock.pass(250);
  assert.deepEqual(results, ['conflict', 'conflict', 'gone']);
  assert.deepEqual(warnings(), []);
});

test('a Retry-After of the Kubernetes API server is respected', async () => {
  let passes = 0;
  const { clock, queue } = start(async () => {
    passes += 1;
    throw new ClusterError('TooManyRequests', 'slow down', { retryAfterMs: 30_000 });
  });
  queue.add('ns/a');
  await clock.pass(29_999);
  assert.equal(passes, 1);
  await clock.pass(1);
  assert.equal(passes, 2);
});
