// A process's memory is bounded by the existing resources: a deleted resource's state is dropped, and shared state
// is dropped with its last user.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeRateLimit } from '#operator/loop/calls/rate-limit.ts';
import { createMemory, forgetResource, rateLimitId, useRateLimit } from '#operator/loop/memory.ts';
import { resource, Simulation } from '../../../simulation/simulation.ts';

const secret = { name: 'export-api', key: 'apiKey' };
const first = rateLimitId({ baseUrl: 'https://api.example.com', project: undefined }, 'docs', secret);
const second = rateLimitId({ baseUrl: 'https://other.example.com', project: undefined }, 'docs', secret);

function memoryOf(...users: readonly (readonly [id: string, rateLimit: string])[]) {
  const memory = createMemory(new AbortController().signal);
  for (const [id, rateLimit] of users) {
    useRateLimit(memory, id, rateLimit);
    changeRateLimit(memory, rateLimit, { kind: 'close', until: 2000 }, 1000);
    memory.warnedKeys.set(rateLimit, 'u/1');
  }
  return memory;
}

test('a rate limit is kept while a resource uses it, and is dropped with the last', () => {
  const memory = memoryOf(['docs/a', first], ['docs/b', first]);
  forgetResource(memory, { namespace: 'docs', name: 'a' });
  assert.deepEqual([...memory.rateLimits.keys()], [first]);
  assert.deepEqual([...memory.warnedKeys.keys()], [first]);
  forgetResource(memory, { namespace: 'docs', name: 'b' });
  assert.equal(memory.rateLimits.size + memory.warnedKeys.size + memory.users.size, 0);
});

test('a resource that moves to another API no longer uses the old rate limit', () => {
  const memory = memoryOf(['docs/a', first]);
  useRateLimit(memory, 'docs/a', second);
  assert.deepEqual([memory.rateLimits.size, memory.warnedKeys.size], [0, 0]);
  assert.deepEqual([...memory.users], [['docs/a', second]]);
});

test('nothing is remembered of a deleted resource', async () => {
  const simulation = new Simulation();
  simulation.vendor.validKey = 'unusual';
  simulation.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: 'unusual' });
  simulation.vendor.failing = 'Unauthorized';
  await simulation.step();
  const { memory } = simulation.context();
  const kept = () => [memory.rateLimits, memory.polls, memory.candidates, memory.warnedKeys, memory.users];
  assert.ok(memory.rateLimits.size === 1 && memory.warnedKeys.size === 1 && memory.users.size === 1);
  simulation.cluster.remove(resource);
  await simulation.step();
  assert.deepEqual(
    kept().map(({ size }) => size),
    [0, 0, 0, 0, 0],
  );
});
