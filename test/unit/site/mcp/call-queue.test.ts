// The calls of one request: their order, their time, and a caller who leaves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallQueue, longestQueueMs } from '#site/mcp/call-queue.ts';

const call = (begun: string[], name: string, result: Promise<void>) => async (): Promise<string> => {
  begun.push(name);
  await result;
  return name;
};

test('calls begin one after the other, and none begins after the time of the request', async () => {
  let now = 0;
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const { take, asked } = createCallQueue({ monotonic: () => now }, new AbortController().signal);
  const all = [take(call(begun, 'a', first.promise)), take(call(begun, 'b', Promise.resolve()))];
  await Promise.resolve();
  assert.deepEqual(begun, ['a']);
  now = longestQueueMs;
  first.resolve();
  assert.deepEqual(await Promise.all(all), ['a', 'late']);
  assert.equal(asked(), 2);
  assert.deepEqual(begun, ['a']);
});

test('a call that fails leaves the next one its turn', async () => {
  const { take } = createCallQueue({ monotonic: () => 0 }, new AbortController().signal);
  const failing = assert.rejects(
    take(() => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await take(() => 'next'), 'next');
  await failing;
});

test('for a caller who has left no call begins', async () => {
  const { take } = createCallQueue({ monotonic: () => 0 }, AbortSignal.abort());
  assert.equal(await take(() => assert.fail('begun')), 'left');
});
