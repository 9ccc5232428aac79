import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#platform/runtime/clock.ts';

test('a wait longer than a platform timer can hold does not fire at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fiftyDaysMs = 50 * 24 * 3_600_000;
  let isDone = false;
  const waited = systemClock.after(fiftyDaysMs).then(() => {
    isDone = true;
  });
  const tick = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms);
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  await tick(2 ** 31 - 1);
  assert.equal(isDone, false);
  await tick(2 ** 31 - 1);
  assert.equal(isDone, false);
  await tick(fiftyDaysMs - 2 * (2 ** 31 - 1));
  await waited;
  assert.equal(isDone, true);
});

test('an aborted wait rejects with the reason, before and during', async () => {
  const reason = new Error('stop');
  await assert.rejects(systemClock.after(10_000, AbortSignal.abort(reason)), reason);
  const controller = new AbortController();
  const waiting = systemClock.after(10_000, controller.signal);
  controller.abort(reason);
  await assert.rejects(waiting, reason);
});

test('a deadline aborts with its parent’s reason', () => {
  const controller = new AbortController();
  const deadline = systemClock.deadline(60_000, controller.signal);
  assert.equal(deadline.aborted, false);
  controller.abort(new Error('shutdown'));
  assert.match(String(deadline.reason), /shutdown/);
});

test('a negative wait ends at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waited = systemClock.after(-5);
  t.mock.timers.tick(0);
  await waited;
});
