// A wall clock that is set, or that went on while the machine slept: told once, by how much; an adjusted one is not, and
// one that never comes to rest not without end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchClockSteps } from '#operator/controller/clock-steps.ts';
import { WorkQueue } from '#operator/queue/work-queue.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

function start() {
  const clock = steppedClock();
  const wall = { aheadMs: 0 };
  const steps: number[] = [];
  const stop = new AbortController();
  const queue = new WorkQueue({ clock, slots: { perHost: 9, total: 9, edits: 0 }, hostOf: () => '' });
  const running = watchClockSteps(
    { ...clock, now: () => clock.now() + wall.aheadMs },
    (stepMs) => {
      steps.push(stepMs);
      queue.addDelayed();
    },
    stop.signal,
  );
  return { clock, wall, steps, stop, queue, running };
}

for (const stepMs of [8 * 3_600_000, -900_000, 3_000]) {
  test(`a step of ${stepMs / 1000} s is reported once, within ten seconds`, async () => {
    const { clock, wall, steps } = start();
    await clock.pass(25_000);
    wall.aheadMs += stepMs;
    await clock.pass(10_000);
    assert.deepEqual(steps, [stepMs]);
    await clock.pass(60_000);
    assert.deepEqual(steps, [stepMs]);
  });
}

test('a clock that is a thousandth too fast for a day is not reported', async () => {
  const { clock, wall, steps } = start();
  for (let second = 0; second < 86_400; second += 10) {
    wall.aheadMs += 10;
    await clock.pass(10_000);
  }
  assert.deepEqual(steps, []);
});

for (const stepMs of [1_900, -1_900]) {
  test(`steps of ${stepMs / 1000} s, each too small to report, are reported in sum`, async () => {
    const { clock, wall, steps } = start();
    for (let look = 0; look < 360; look += 1) {
      wall.aheadMs += stepMs;
      await clock.pass(10_000);
    }
    const toldMs = steps.reduce((sum, one) => sum + one, 0);
    // Of the last five minutes some may still be to come.
    assert.ok(Math.abs(toldMs) > (Math.abs(wall.aheadMs) * 54) / 60, `${toldMs} of ${wall.aheadMs}`);
  });
}

test('a clock that is set repeatedly is reported at once, and then at most every five minutes', async () => {
  const { clock, wall, steps } = start();
  const hour = async (stepMs: number): Promise<number> => {
    const before = steps.length;
    for (let look = 0; look < 360; look += 1) {
      wall.aheadMs += stepMs;
      await clock.pass(10_000);
      if (look === 0 && stepMs !== 0) assert.equal(steps.length, before + 1);
    }
    return steps.length - before;
  };
  assert.equal(await hour(3_000), 14);
  assert.equal(await hour(0), 1, 'what was held back');
  assert.equal(await hour(3_000), 14);
});

test('the watch of the clock ends with its signal', async () => {
  const { clock, stop, running } = start();
  await clock.pass(15_000);
  stop.abort();
  await running;
  assert.equal(clock.waiting(), 0);
});

test('delayed keys are reconciled after the clock was set, after more urgent ones', async () => {
  const { clock, wall, queue } = start();
  queue.addAfter('ns/later', 3_000_000);
  queue.addAfter('ns/soon', 30_000);
  wall.aheadMs = 8 * 3_600_000;
  await clock.pass(9_999);
  queue.add('ns/edited');
  await clock.pass(1);
  assert.deepEqual(
    [await queue.take(), await queue.take(), await queue.take()],
    ['ns/edited', 'ns/later', 'ns/soon'],
  );
  assert.equal(queue.figures().delayed, 0);
});
