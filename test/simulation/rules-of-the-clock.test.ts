// What the rules say of a clock that is set under a published link, and of a link whose end nobody can put off: status
// follows the link as it is, whatever else is written or broken meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, minuteMs, publishedWorld } from './published-world.ts';
import { outputName, resource, type World } from './world.ts';

const outputId = `${resource.namespace}/${outputName}`;

/** By the vendor, on time that cannot be set. */
function leftMs(world: World): number {
  const link = world.output()?.['bundleUrl'] ?? '';
  return (world.vendor.links.get(link)?.expiresAt ?? 0) - world.clock.monotonic();
}

function saidLeftMs(world: World): number {
  return Date.parse(world.status().active?.linkExpirationTime ?? '') - world.clock.now();
}

async function longLinkWorld(lifetimeMs: number): Promise<World> {
  const world = await publishedWorld({ spec: { linkRefresh: { atPercent: 90 } } });
  world.vendor.linkLifetimeMs = lifetimeMs;
  await world.until(() => leftMs(world) > 20 * minuteMs, hourMs);
  return world;
}

test('rule 1: an output that is repaired after the clock was set back keeps the end that its link has', async () => {
  const world = await longLinkWorld(30 * minuteMs);
  await world.run(leftMs(world) - 14 * minuteMs);
  world.jump(-12 * minuteMs);
  world.prompt();
  await world.turn();
  assert.ok(saidLeftMs(world) <= leftMs(world));
  const secret = world.cluster.secrets.get(outputId);
  assert.ok(secret);
  world.cluster.secrets.set(outputId, { ...secret, metadata: { ...secret.metadata, labels: {} } });
  world.prompt();
  await world.turn();
  assert.ok(saidLeftMs(world) <= leftMs(world), 'its life is the stored one again');
  await world.run(hourMs, () => assert.ok(world.isLinkLive(), 'its refresh came after its end'));
});

test('rule 1: a clock that was set back and right again leaves a live link fresh while the vendor is away', async () => {
  const world = await longLinkWorld(hourMs);
  world.vendor.failing = 'NetworkError';
  for (const jumpMs of [-24 * hourMs, 24 * hourMs]) {
    world.jump(jumpMs);
    world.prompt();
    await world.run(minuteMs);
  }
  assert.ok(world.isLinkLive());
  assert.equal(world.condition('LinkFresh'), 'True/Fresh');
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.ok(Math.abs(saidLeftMs(world) - leftMs(world)) <= 2000);
});

test('rule 1: the link of a spec that says not even where it is issued is called dead when it dies', async () => {
  const world = await publishedWorld();
  world.cluster.edit(resource, ({ spec }) => ({ spec: { ...Object(spec), api: 'nonsense' } }));
  world.prompt();
  await world.until(() => world.condition('Ready') === 'False/InvalidSpec', minuteMs);
  await world.run(leftMs(world) - 1000, () => assert.equal(world.condition('LinkFresh'), 'True/Fresh'));
  await world.run(5000);
  assert.equal(world.condition('LinkFresh'), 'False/Expired');
});
