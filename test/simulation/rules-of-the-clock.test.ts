// The rules for a clock that is set while a link is published, and for a link that cannot be refreshed: status shows
// the link's real expiry, whatever else is written or fails meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, minuteMs, publishedSimulation } from './published-simulation.ts';
import { outputName, resource, type Simulation } from './simulation.ts';

const outputId = `${resource.namespace}/${outputName}`;

/** By the vendor, on the monotonic clock. */
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

test('rule 1: an output repaired after the clock was set back keeps its link’s expiry', async () => {
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
  assert.ok(saidLeftMs(simulation) <= leftMs(simulation), 'its lifetime is the stored one again');
  await simulation.run(hourMs, () =>
    assert.ok(simulation.isLinkValid(), 'it was refreshed after its expiry'),
  );
});

test('rule 1: a clock set back and corrected leaves a valid link fresh while the vendor is away', async () => {
  const simulation = await longLinkWorld(hourMs);
  simulation.vendor.failing = 'NetworkError';
  for (const jumpMs of [-24 * hourMs, 24 * hourMs]) {
    simulation.jump(jumpMs);
    simulation.prompt();
    await simulation.run(minuteMs);
  }
  assert.ok(simulation.isLinkValid());
  assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.ok(Math.abs(saidLeftMs(simulation) - leftMs(simulation)) <= 2000);
});

test('rule 1: the link of a spec without an export API is reported as expired when it expires', async () => {
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
