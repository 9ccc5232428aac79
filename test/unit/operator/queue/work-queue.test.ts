// A key is in the queue once however often it was added, never with two workers, and never lost.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueSlots } from '#operator/queue/host-queues.ts';
import { longestDelayMs, WorkQueue } from '#operator/queue/work-queue.ts';
import * as fc from '../../../support/properties.ts';
import { settle, steppedClock } from '../../../support/stepped-clock.ts';

const open = (clock = steppedClock(), slots: QueueSlots = { perHost: 9, total: 9, edits: 0 }): WorkQueue =>
  new WorkQueue({ clock, slots, hostOf: () => '' });

test('a key added twice is handed out once, in the order of first adding', async () => {
  const queue = open();
  for (const key of ['a', 'b', 'a']) queue.add(key);
  assert.deepEqual([await queue.take(), await queue.take()], ['a', 'b']);
  assert.equal(queue.figures().waiting, 0);
});

test('a key added while it is reconciled is handed out again afterwards', async () => {
  const queue = open();
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

test('of several delays the earliest counts, and adding the key cancels it', async () => {
  const clock = steppedClock();
  const queue = open(clock);
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
  test(`a delay of ${delay} is now: an overdue key must not wait`, () => {
    const queue = open();
    queue.addAfter('a', delay);
    assert.equal(queue.figures().waiting, 1);
  });
}

test('no delay is longer than 24 days', async () => {
  const clock = steppedClock();
  const queue = open(clock);
  queue.addAfter('a', 10 * longestDelayMs);
  await clock.pass(longestDelayMs - 1);
  assert.equal(queue.figures().waiting, 0);
  await clock.pass(1);
  assert.equal(queue.figures().waiting, 1);
});

test('closing ends waiting workers, drops delays, and hands out no more keys', async () => {
  const clock = steppedClock();
  const queue = open(clock);
  const waiting = queue.take();
  queue.addAfter('a', 1_000);
  queue.close();
  assert.equal(await waiting, undefined);
  await clock.pass(2_000);
  queue.add('b');
  assert.equal(await queue.take(), undefined);
  assert.equal(clock.waiting(), 0);
});

test('an export API that hangs uses the slots of its own host: other hosts are served meanwhile', async () => {
  const queue = new WorkQueue({
    clock: steppedClock(),
    slots: { perHost: 2, total: 100, edits: 0 },
    hostOf: (key) => key.split('/')[0] ?? '',
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

test('a key that waits without a free slot is handed out as soon as its resource is edited', async () => {
  const queue = open(steppedClock(), { perHost: 1, total: 1, edits: 1 });
  queue.add('first', 'listed');
  queue.add('second', 'listed');
  assert.equal(await queue.take(), 'first');
  const next = queue.take();
  await settle();
  queue.add('second', 'edited');
  assert.equal(await next, 'second');
});

test('a key edited while it is reconciled waits as an edit afterwards', async () => {
  const queue = open();
  queue.add('a', 'listed');
  await queue.take();
  queue.add('b', 'listed');
  queue.add('a', 'edited');
  queue.add('a', 'listed');
  queue.done('a');
  assert.equal(await queue.take(), 'a');
});

test('property: each added key is handed out afterwards, and never to two workers at once', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constant('later' as const), key: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(5_000) }),
    fc.record({ do: fc.constant('finish' as const) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat(3_000) }),
  );
  await fc.assertAsync(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = steppedClock();
      const queue = open(clock);
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
