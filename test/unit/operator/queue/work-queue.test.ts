// The queue's promises: once in it however often added, never with two workers, nothing lost, earliest wins.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { longestDelayMs, WorkQueue } from '../../../../src/operator/queue/work-queue.ts';
import { settle, steppedClock } from '../../../support/stepped-clock.ts';

test('a key added twice is handed out once, in the order of first adding', async () => {
  const queue = new WorkQueue(steppedClock());
  for (const key of ['a', 'b', 'a']) queue.add(key);
  assert.deepEqual([await queue.take(), await queue.take()], ['a', 'b']);
  assert.equal(queue.figures().waiting, 0);
});

test('a key added while its pass runs waits for the end and is then handed out again', async () => {
  const queue = new WorkQueue(steppedClock());
  queue.add('a');
  await queue.take();
  queue.add('a');
  queue.add('a');
  assert.equal(queue.figures().waiting, 0);
  queue.done('a');
  assert.equal(await queue.take(), 'a');
  queue.done('a');
  assert.equal(queue.figures().waiting, 0);
});

test('of several delays the earliest counts, and a look in between cancels it', async () => {
  const clock = steppedClock();
  const queue = new WorkQueue(clock);
  queue.addAfter('a', 5_000);
  queue.addAfter('a', 9_000);
  queue.addAfter('a', 2_000);
  await clock.pass(1_999);
  assert.equal(queue.figures().waiting, 0);
  await clock.pass(1);
  assert.equal(queue.figures().waiting, 1);
  await clock.pass(10_000);
  assert.deepEqual(queue.figures().waiting, 1);
  queue.add('a');
  assert.equal(queue.figures().delayed, 0);
});

for (const delay of [0, -5, Number.NaN]) {
  test(`a delay of ${delay} is now: what is overdue must not wait`, () => {
    const queue = new WorkQueue(steppedClock());
    queue.addAfter('a', delay);
    assert.equal(queue.figures().waiting, 1);
  });
}

test('no delay is longer than 24 days', async () => {
  const clock = steppedClock();
  const queue = new WorkQueue(clock);
  queue.addAfter('a', 10 * longestDelayMs);
  await clock.pass(longestDelayMs - 1);
  assert.equal(queue.figures().waiting, 0);
  await clock.pass(1);
  assert.equal(queue.figures().waiting, 1);
});

test('closing wakes who waits, drops timers, and takes nothing more', async () => {
  const clock = steppedClock();
  const queue = new WorkQueue(clock);
  const waiting = queue.take();
  queue.addAfter('a', 1_000);
  queue.close();
  assert.equal(await waiting, undefined);
  await clock.pass(2_000);
  queue.add('b');
  assert.equal(await queue.take(), undefined);
  assert.equal(clock.waiting(), 0);
});

test('an API that hangs holds its own places only: others are served while it does', async () => {
  const queue = new WorkQueue(steppedClock(), undefined, {
    laneOf: (key) => key.split('/')[0] ?? '',
    width: 2,
    total: 100,
    editPlaces: 0,
  });
  const started: string[] = [];
  const worker = async (): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      started.push(key);
      if (key.startsWith('hangs/')) await new Promise(() => {});
      queue.done(key);
    }
  };
  const workers = Array.from({ length: 4 }, worker);
  for (let index = 0; index < 50; index += 1) queue.add(`hangs/${index}`, 'listed');
  for (let index = 0; index < 50; index += 1) queue.add(`works/${index}`, 'listed');
  await settle();
  assert.equal(started.filter((key) => key.startsWith('hangs/')).length, 2);
  assert.equal(started.filter((key) => key.startsWith('works/')).length, 50);
  queue.close();
  assert.equal(workers.length, 4);
});

test('a key that waits without a place is handed out as soon as somebody edits it', async () => {
  const queue = new WorkQueue(steppedClock(), undefined, {
    laneOf: () => '',
    width: 1,
    total: 1,
    editPlaces: 1,
  });
  queue.add('first', 'listed');
  queue.add('second', 'listed');
  assert.equal(await queue.take(), 'first');
  const next = queue.take();
  await settle();
  queue.add('second', 'edited');
  assert.equal(await next, 'second');
});

test('a key made urgent while its pass runs is urgent afterwards', async () => {
  const queue = new WorkQueue(steppedClock());
  queue.add('a', 'listed');
  await queue.take();
  queue.add('b', 'listed');
  queue.add('a', 'edited');
  queue.add('a', 'listed');
  queue.done('a');
  assert.equal(await queue.take(), 'a');
});

test('property: whatever is added is handed out afterwards, and never to two at once', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constant('later' as const), key: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(5_000) }),
    fc.record({ do: fc.constant('finish' as const) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat(3_000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = steppedClock();
      const queue = new WorkQueue(clock);
      const owed = new Set<string>();
      const held: string[] = [];
      const worker = async (): Promise<void> => {
        for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
          assert.ok(!held.includes(key), `${key} is with two workers`);
          held.push(key);
          owed.delete(key);
          const mine = key;
          await new Promise<void>((resolve) => finishers.push(() => resolve()));
          held.splice(held.indexOf(mine), 1);
          queue.done(mine);
        }
      };
      const finishers: (() => void)[] = [];
      const workers = [worker(), worker()];
      for (const one of steps) {
        if (one.do === 'add') owed.add(one.key);
        if (one.do === 'add') queue.add(one.key);
        else if (one.do === 'later') {
          owed.add(one.key);
          queue.addAfter(one.key, one.ms);
        } else if (one.do === 'finish') finishers.shift()?.();
        else await clock.pass(one.ms);
        await settle();
      }
      for (let turn = 0; turn < 12; turn += 1) {
        await clock.pass(5_000);
        for (const finish of finishers.splice(0)) finish();
        await settle();
      }
      assert.deepEqual([...owed], []);
      queue.close();
      await Promise.all(workers);
    }),
    { numRuns: 60 },
  );
});
