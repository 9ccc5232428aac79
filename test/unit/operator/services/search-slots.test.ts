// The slot of searches: one at a time, in an order that is fair to namespaces, and it is never lost.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type SearchSlot, SearchSlots } from '#operator/services/search-slots.ts';

const never = new AbortController().signal;

/** @returns the names of those that have begun, as they begin */
function started(slots: SearchSlots, ...owners: readonly string[]) {
  const begun: string[] = [];
  const opened = owners.map((owner): SearchSlot => {
    const slot = slots.open(owner.replace(/\d/, ''), never);
    slot.begin().then(
      () => begun.push(owner),
      () => begun.push(`${owner} stopped`),
    );
    return slot;
  });
  return { begun, opened };
}

test('one search is made at a time, and namespaces alternate', async () => {
  const slots = new SearchSlots();
  const { begun, opened } = started(slots, 'a1', 'a2', 'a3', 'b1');
  await setImmediate();
  assert.deepEqual([begun, slots.waiting], [['a1'], 3]);
  for (const slot of [0, 1, 3, 2]) {
    opened[slot]?.end();
    await setImmediate();
  }
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3']);
  const next = started(slots, 'c1');
  await setImmediate();
  assert.deepEqual(next.begun, ['c1'], 'the last slot was lost');
});

test('work that ends while it waits leaves the queue, and a second end frees no other slot', async () => {
  const slots = new SearchSlots();
  const { begun, opened } = started(slots, 'a1', 'b1', 'c1');
  opened[1]?.end();
  await setImmediate();
  assert.deepEqual([begun, slots.waiting], [['a1', 'b1 stopped'], 1]);
  opened[0]?.end();
  await setImmediate();
  opened[0]?.end();
  assert.deepEqual(begun, ['a1', 'b1 stopped', 'c1']);
  const next = started(slots, 'd1');
  await setImmediate();
  assert.deepEqual(next.begun, [], 'two searches are made at once');
});

test('work that ends in the moment when it gets the slot hands it on', async () => {
  const slots = new SearchSlots();
  const { begun, opened } = started(slots, 'a1', 'b1', 'c1');
  opened[0]?.end();
  opened[1]?.end();
  await setImmediate();
  assert.ok(begun.includes('c1'), begun.join());
});

test('a signal ends a wait with its reason', async () => {
  const slots = new SearchSlots();
  started(slots, 'a1');
  const stop = new AbortController();
  const waiting = slots.open('b', stop.signal).begin();
  stop.abort(new Error('the deadline'));
  await assert.rejects(waiting, /the deadline/);
  assert.equal(slots.waiting, 0);
});
