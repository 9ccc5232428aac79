// What the rules say of a clock that is set under a published link, and of a link whose end nobody can put off: status
// follows the link as it is, whatever else is written or broken meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, minuteMs, publishedSimulation } from './published-simulation.ts';
import { outputName, resource, type Simulation } from './simulation.ts';

const outputId = `${resource.namespace}/${outputName}`;

/** By the vendor, on time that cannot be set. */
function leftMs(simulation: Simulation): number {
  const link = simulation.output()?.['bundleUrl'] ?? '';
  return (simulation.vendor.links.get(link)?.expiresAt ?? 0) - simulation.clock.monotonic();
}

function saidLeftMs(simulation: Simulation): number {
  return Date.parse(simulation.status().active?.linkExpirationTime ?? '') - simulation.clock.now();
}

async function longLinkWorld(lifetimeMs: number): Promise<Simulation> {
  const simulation = await publishedSimulation({ spec: { linkRefresh: { atPercent: 90 } } });
  simulation.vendor.linkLifetimeMs = lifetimeMs;
  await simulation.until(() => leftMs(simulation) > 20 * minuteMs, hourMs);
  return simulation;
}

test('rule 1: an output that is repaired after the clock was set back keeps the end that its link has', async () => {
  const simulation = await longLinkWorld(30 * minuteMs);
  await simulation.run(leftMs(simulation) - 14 * minuteMs);
  simulation.jump(-12 * minuteMs);
  simulation.prompt();
  await simulation.step();
  assert.ok(saidLeftMs(simulation) <= leftMs(simulation));
  const secret = simulation.cluster.secrets.get(outputId);
  assert.ok(secret);
  simulation.cluster.secrets.set(outputId, { ...secret, metadata: { ...secret.metadata, labels: {} } });
  simulation.prompt();
  await simulation.step();
  assert.ok(saidLeftMs(simulation) <= leftMs(simulation), 'its life is the stored one again');
  await simulation.run(hourMs, () => assert.ok(simulation.isLinkLive(), 'its refresh came after its end'));
});

test('rule 1: a clock that was set back and right again leaves a live link fresh while the vendor is away', async () => {
  const simulation = await longLinkWorld(hourMs);
  simulation.vendor.failing = 'NetworkError';
  for (const jumpMs of [-24 * hourMs, 24 * hourMs]) {
    simulation.jump(jumpMs);
    simulation.prompt();
    await simulation.run(minuteMs);
  }
  assert.ok(simulation.isLinkLive());
  assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.ok(Math.abs(saidLeftMs(simulation) - leftMs(simulation)) <= 2000);
});

test('rule 1: the link of a spec that says not even where it is issued is called dead when it dies', async () => {
  const simulation = await publishedSimulation();
  simulation.cluster.edit(resource, ({ spec }) => ({ spec: { ...Object(spec), api: 'nonsense' } }));
  simulation.prompt();
  await simulation.until(() => simulation.condition('Ready') === 'False/InvalidSpec', minuteMs);
  await simulation.run(leftMs(simulation) - 1000, () =>
    assert.equal(simulation.condition('LinkFresh'), 'True/Fresh'),
  );
  await simulation.run(5000);
  assert.equal(simulation.condition('LinkFresh'), 'False/Expired');
});
