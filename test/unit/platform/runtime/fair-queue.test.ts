// Owners take turns, whatever the order in which their callers came; and who stops waiting is not served.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from '#platform/runtime/fair-queue.ts';

test('owners take turns, and an owner whose turn is refused keeps its place', async () => {
  const queue = new FairQueue<number>();
  const served: string[] = [];
  const stop = new AbortController();
  const wait = (owner: string, name: string, signal?: AbortSignal): Promise<void> =>
    queue.wait(owner, signal).then(
      (grant) => void served.push(`${name}${grant}`),
      (reason: Error) => void served.push(`${name} ${reason.message}`),
    );
  const waits = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => wait(name.slice(0, 1), name));
  const left = wait('b', 'b2', stop.signal);
  assert.deepEqual([queue.size, queue.sizeOf('a'), queue.sizeOf('d')], [6, 3, 0]);
  stop.abort(new Error('left'));
  await left;
  // "a" may not go on at first.
  for (const owners of ['bc', 'abc', 'abc', 'abc']) {
    assert.equal(
      queue.grantNext((owner) => (owners.includes(owner) ? owners.length : undefined)),
      true,
    );
    await Promise.resolve();
  }
  assert.equal(
    queue.grantNext(() => 3),
    true,
  );
  assert.equal(
    queue.grantNext(() => 3),
    false,
  );
  await Promise.all(waits);
  assert.deepEqual(served, ['b2 left', 'b12', 'a13', 'c13', 'a23', 'a33']);
});
