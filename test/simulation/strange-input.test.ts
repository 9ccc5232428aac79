// Unusual input: huge annotations, one output for two resources, many resources for one domain. Each alone, with
// its visible effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { hourMs, minuteMs, nextVerdict, publishedSimulation, request } from './published-simulation.ts';
import { outputName } from './simulation.ts';

test('a request and a promotion token of 256 KiB are cut, handled once, and fit into status', async () => {
  const simulation = await publishedSimulation();
  const huge = 'x'.repeat(256 * 1024);
  simulation.annotate({ 'staticexport.dev/promote': huge });
  request(simulation, huge);
  await nextVerdict(simulation);
  const starts = simulation.callsOf('start');
  assert.equal(simulation.status().lastHandledRequest, 'x'.repeat(256));
  await simulation.run(3 * hourMs);
  assert.equal(simulation.callsOf('start'), starts, 'handled once');
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

test('an output name of another resource stalls the second resource and does not affect the first', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output();
  const second = { namespace: 'docs', name: 'second' };
  simulation.cluster.create(second, {
    domain: 'other.example.com',
    api: { keySecretRef: { name: 'export-api' } },
    output: { name: outputName },
  });
  const { signal } = new AbortController();
  const calls = simulation.vendor.calls.length;
  await simulation.clock.finish(reconcile(second, simulation.context(createMemory(signal)), signal));
  assert.match(JSON.stringify(simulation.cluster.exports.get('docs/second')?.status), /OutputNotOwned/);
  assert.deepEqual(simulation.output(), before);
  assert.equal(simulation.vendor.calls.length, calls, 'nothing is exported that could not be published');
});

test('many resources for one domain each have their own job, link and output, and their own times', async () => {
  const simulation = await publishedSimulation();
  const { signal } = new AbortController();
  const context = simulation.context(createMemory(signal));
  const refreshes = new Set<string>();
  for (let index = 0; index < 100; index += 1) {
    const key = { namespace: 'docs', name: `copy-${index}` };
    simulation.cluster.create(key, {
      domain: 'docs.example.com',
      api: { keySecretRef: { name: 'export-api' } },
    });
    await simulation.clock.finish(reconcile(key, context, signal));
  }
  await simulation.clock.pass(2 * minuteMs);
  for (let index = 0; index < 100; index += 1) {
    const key = { namespace: 'docs', name: `copy-${index}` };
    for (let count = 0; count < 4; count += 1) await simulation.clock.finish(reconcile(key, context, signal));
    const text = JSON.stringify(simulation.cluster.exports.get(`docs/copy-${index}`)?.status);
    assert.match(text, /"status":"True","reason":"Published"/);
    refreshes.add(/"nextRefreshTime":"([^"]+)"/.exec(text)?.[1] ?? '');
  }
  assert.equal(simulation.vendor.jobs.size, 101);
  assert.ok(refreshes.size > 10, `${refreshes.size} instants for 100 refreshes`);
});
