// Immediate requeues: a completed export gets its few without a pause; a hot loop is slowed, logged once, and delays no
// other key.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcome, start } from './controller-run.ts';

test('a hot loop is slowed to one reconcile a minute, logged once, and delays no other key', async () => {
  const counts = { hot: 0, cold: 0 };
  const { clock, queue, warnings } = start(
    async ({ name }) => {
      counts[name === 'hot' ? 'hot' : 'cold'] += 1;
      return outcome(name === 'hot' ? 0 : 10_000);
    },
    { workers: 1 },
  );
  queue.add('ns/hot');
  queue.add('ns/cold');
  await clock.pass(1);
  assert.deepEqual(counts, { hot: 21, cold: 1 });
  await clock.pass(600_000);
  const early = counts.hot;
  assert.ok(early <= 21 + 6 + 10, `${early} passes`);
  await clock.pass(600_000);
  assert.equal(counts.hot - early, 10, 'one a minute');
  assert.equal(counts.cold, 121);
  assert.equal(warnings().length, 1);
  queue.add('ns/hot');
  await clock.pass(1);
  assert.equal(counts.hot - early, 11, 'an edit is not slowed');
});

test('a requeue within a second counts as immediate; a longer one resets the count', async () => {
  let passes = 0;
  let waitMs = 1;
  const { clock, queue, warnings } = start(async () => {
    passes += 1;
    return outcome(waitMs);
  });
  queue.add('ns/a');
  await clock.pass(300_000);
  assert.ok(passes < 40, `${passes} passes`);
  waitMs = 1000;
  await clock.pass(60_000);
  waitMs = 0;
  const before = passes;
  await clock.pass(1000);
  assert.ok(passes - before >= 20, `${passes - before} passes`);
  assert.equal(warnings().length, 2);
});

test('the reconciles of a completed export follow each other without a pause', async () => {
  const at: number[] = [];
  const { clock, queue, warnings } = start(async () => {
    at.push(clock.monotonic());
    return outcome(at.length < 12 ? 0 : undefined);
  });
  queue.add('ns/a');
  await clock.pass(10);
  assert.equal(at.length, 12);
  assert.equal(new Set(at).size, 1);
  assert.deepEqual(warnings(), []);
});
