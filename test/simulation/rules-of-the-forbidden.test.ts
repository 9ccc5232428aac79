// The rules for a key that is permitted one call and forbidden another (403): what it delays, how often the call is
// retried, and what ends the wait. One short scenario each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, publishedSimulation, request } from './published-simulation.ts';
import { keySecret, resource, type Simulation } from './simulation.ts';

const other: ObjectKey = { namespace: 'docs', name: 'other' };

/** Runs a second resource in the same process as the simulation's own, each at its own wake-ups. */
async function runBoth(simulation: Simulation, ms: number, watch: () => void): Promise<void> {
  const memory = createMemory(new AbortController().signal);
  const signal = new AbortController().signal;
  const end = simulation.clock.monotonic() + ms;
  const wakes = new Map<ObjectKey, number>([
    [other, 0],
    [resource, 0],
  ]);
  for (;;) {
    const [next] = [...wakes].sort(([, a], [, b]) => a - b);
    if (next === undefined || next[1] > end) return;
    await simulation.clock.pass(Math.max(0, next[1] - simulation.clock.monotonic()));
    watch();
    const { wakeAfterMs = hourMs } = await simulation.clock.finish(
      reconcile(next[0], simulation.context(memory), signal),
    );
    wakes.set(next[0], simulation.clock.monotonic() + wakeAfterMs);
  }
}

test('rule 8: a call forbidden to one resource delays no refresh of another with the same key', async () => {
  const simulation = await publishedSimulation();
  simulation.cluster.create(other, {
    domain: 'other.example.com',
    api: { keySecretRef: { name: 'export-api' } },
  });
  simulation.vendor.forbidden.add('other.example.com');
  await runBoth(simulation, 6 * hourMs, () =>
    assert.ok(simulation.isLinkValid(), 'the permitted link expired'),
  );
  const starts = simulation.vendor.calls.filter(({ kind }) => kind === 'start').length;
  assert.ok(starts <= 1 + 6 * 4 + 1, `${starts} starts: a forbidden start is retried every 15 minutes`);
});

test('rule 8: new inputs that are forbidden delay no refresh', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.forbidden.add('www.example.com');
  simulation.editSpec({ domain: 'www.example.com' });
  await simulation.run(6 * hourMs, () =>
    assert.ok(simulation.isLinkValid(), 'the link expired while its own API answers'),
  );
});

async function forbiddenRefresh(): Promise<Simulation> {
  const simulation = await publishedSimulation();
  simulation.vendor.failing = 'Forbidden';
  await simulation.until(() => simulation.status().failures?.link?.reason === 'Forbidden', 15 * minuteMs);
  return simulation;
}

test('rule 8: a forbidden refresh is retried once, within a minute of a change of the key’s Secret (seed 1452)', async () => {
  const simulation = await forbiddenRefresh();
  const issues = simulation.callsOf('issue');
  await simulation.run(90_000);
  assert.equal(simulation.callsOf('issue'), issues, 'retried without a change');
  // The operator receives no event of either, because it does not watch Secrets.
  simulation.cluster.putSecret(keySecret, { apiKey: simulation.vendor.validKey });
  await simulation.run(minuteMs);
  assert.equal(simulation.callsOf('issue'), issues + 1);
  simulation.restart();
  await simulation.run(minuteMs);
  assert.equal(simulation.callsOf('issue'), issues + 1, 'one change, one attempt');
  simulation.vendor.failing = undefined;
  simulation.cluster.putSecret(keySecret, { apiKey: simulation.vendor.validKey });
  const oracles = new Oracles(simulation);
  oracles.disturb();
  await simulation.run(hourMs, async (step) => {
    assert.ok(step.wasLinkValid, 'the link expired although the key’s Secret was changed in time');
    await oracles.check(step);
  });
});

test('rule 8: a new request permits one attempt of a forbidden refresh', async () => {
  const simulation = await forbiddenRefresh();
  const issues = simulation.callsOf('issue');
  request(simulation, 'try');
  await simulation.run(90_000);
  assert.equal(simulation.callsOf('issue'), issues + 1);
  simulation.vendor.failing = undefined;
  request(simulation, 'and again');
  await simulation.run(1000);
  assert.equal(simulation.callsOf('issue'), issues + 2);
  assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
});
