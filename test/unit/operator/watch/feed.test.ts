// What is queued, and with which priority: nothing before this process leads, then every known key, and edits first.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkQueue } from '#operator/queue/work-queue.ts';
import { createFeed } from '#operator/watch/feed.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

function start() {
  const clock = steppedClock();
  const queue = new WorkQueue({ clock, slots: { perHost: 9, total: 9, edits: 0 }, hostOf: () => '' });
  /** The keys in the order in which they are taken, one by one. */
  const drain = async (): Promise<readonly string[]> => {
    const keys: string[] = [];
    while (queue.figures().waiting > 0) {
      const key = await queue.take();
      assert.ok(key !== undefined);
      queue.done(key);
      keys.push(key);
    }
    return keys;
  };
  return { clock, queue, feed: createFeed(queue), drain };
}

test('a standby queues nothing, however many resources come and go', async () => {
  const { clock, queue, feed } = start();
  for (let pull = 0; pull < 1_000; pull += 1) {
    feed.wake(`ns/docs-pr-${pull}`, 'changed');
    feed.recheckOverlap(`ns/docs-pr-${pull}`);
    feed.wake(`ns/docs-pr-${pull}`, 'gone');
  }
  await clock.pass(60_000);
  assert.deepEqual([queue.figures().waiting, queue.figures().delayed], [0, 0]);
});

test('a new leader queues every known key, and takes a fresh edit first', async () => {
  const { queue, feed, drain } = start();
  const known = Array.from({ length: 1_000 }, (_, index) => `ns/r${index}`);
  // Edited once each while this process was a standby.
  for (const key of known) feed.wake(key, 'changed');
  feed.wake('ns/gone', 'gone');
  feed.open(known);
  feed.wake('ns/fresh', 'changed');
  assert.equal(queue.figures().waiting, 1_001);
  const keys = await drain();
  assert.equal(keys[0], 'ns/fresh');
  assert.deepEqual([...keys].sort(), ['ns/fresh', ...known].sort());
});

test('ten thousand deletions come after an edit and a due key, and each is still reconciled', async () => {
  const { queue, feed, drain } = start();
  feed.open([]);
  for (let index = 0; index < 10_000; index += 1) feed.wake(`ns/r${index}`, 'gone');
  queue.add('other/due', 'due');
  feed.wake('other/fresh', 'changed');
  const keys = await drain();
  assert.deepEqual(keys.slice(0, 2), ['other/fresh', 'other/due']);
  assert.equal(keys.length, 10_002);
});

test('a key that is deleted and created again is an edit', async () => {
  const { feed, drain } = start();
  feed.open(['ns/a']);
  feed.wake('ns/b', 'gone');
  feed.wake('ns/b', 'changed');
  assert.deepEqual(await drain(), ['ns/b', 'ns/a']);
});

test('a status by another operator is rechecked once within 15 seconds, however often that operator writes', async () => {
  const { clock, queue, feed, drain } = start();
  feed.open([]);
  for (let write = 0; write < 15; write += 1) {
    feed.recheckOverlap('ns/a');
    assert.equal(queue.figures().waiting, 0);
    await clock.pass(1_000);
  }
  assert.deepEqual(await drain(), ['ns/a']);
  await clock.pass(60_000);
  assert.equal(queue.figures().waiting, 0);
});
