// Input that nobody should write and somebody will: huge annotations, one output for two resources, many resources
// for one domain. Each alone, with what must be seen of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '../../src/loop/memory.ts';
import { reconcile } from '../../src/loop/reconcile.ts';
import { hourMs, minuteMs, nextVerdict, publishedWorld, request } from './published-world.ts';
import { outputName } from './world.ts';

test('a request and a promotion of 256 KiB are cut, handled once, and fit the status', async () => {
  const world = await publishedWorld();
  const huge = 'x'.repeat(256 * 1024);
  world.annotate({ 'staticexport.dev/promote': huge });
  request(world, huge);
  await nextVerdict(world);
  const starts = world.callsOf('start');
  assert.equal(world.status().lastHandledRequest, 'x'.repeat(256));
  await world.run(3 * hourMs);
  assert.equal(world.callsOf('start'), starts, 'handled once');
  assert.equal(world.condition('Ready'), 'True/Published');
});

test('an output name that another resource has taken stalls the second and leaves the first alone', async () => {
  const world = await publishedWorld();
  const before = world.output();
  const second = { namespace: 'docs', name: 'second' };
  world.cluster.create(second, {
    domain: 'other.example.com',
    api: { keySecretRef: { name: 'export-api' } },
    output: { name: outputName },
  });
  const { signal } = new AbortController();
  const calls = world.vendor.calls.length;
  await world.clock.finish(reconcile(second, world.context(createMemory(signal)), signal));
  assert.match(JSON.stringify(world.cluster.exports.get('docs/second')?.status), /OutputNotOwned/);
  assert.deepEqual(world.output(), before);
  assert.equal(world.vendor.calls.length, calls, 'nothing is exported that could not be published');
});

test('many resources for one domain each have their own job, link and output, and their own times', async () => {
  const world = await publishedWorld();
  const { signal } = new AbortController();
  const context = world.context(createMemory(signal));
  const refreshes = new Set<string>();
  for (let index = 0; index < 100; index += 1) {
    const key = { namespace: 'docs', name: `copy-${index}` };
    world.cluster.create(key, { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } });
    await world.clock.finish(reconcile(key, context, signal));
  }
  await world.clock.pass(2 * minuteMs);
  for (let index = 0; index < 100; index += 1) {
    const key = { namespace: 'docs', name: `copy-${index}` };
    for (let passes = 0; passes < 4; passes += 1) await world.clock.finish(reconcile(key, context, signal));
    const text = JSON.stringify(world.cluster.exports.get(`docs/copy-${index}`)?.status);
    assert.match(text, /"status":"True","reason":"Published"/);
    refreshes.add(/"nextRefreshTime":"([^"]+)"/.exec(text)?.[1] ?? '');
  }
  assert.equal(world.vendor.jobs.size, 101);
  assert.ok(refreshes.size > 10, `${refreshes.size} instants for 100 refreshes`);
});
