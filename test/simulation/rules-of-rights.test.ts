// What the rules say where the operator's own rights are taken away: what may not be read is not guessed at, what may
// not be written is told beside it, the clock goes on, and what is given back heals by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster } from '../../src/loop/ports.ts';
import { ClusterError } from '../../src/wire/cluster-error.ts';
import { hourMs, minuteMs, publishedWorld, request } from './published-world.ts';
import { outputName, resource, type World } from './world.ts';

const refuse = (what: string): Promise<never> =>
  Promise.reject(new ClusterError('Forbidden', `the operator's role does not allow ${what}; add the verb`));

/** Takes rights away, and gives them back. */
function withoutRights(world: World, taken: (cluster: Cluster) => Partial<Cluster>): () => void {
  const { bend } = world;
  world.bend = (edge, own) => {
    const bent = bend(edge, own);
    return { ...bent, cluster: { ...bent.cluster, ...taken(bent.cluster) } };
  };
  world.prompt();
  return () => {
    world.bend = bend;
  };
}

const withoutSecret = (world: World): (() => void) =>
  withoutRights(world, (cluster) => ({
    readSecret: (key, signal) =>
      key.name === outputName ? refuse(`"get" on secrets "${key.name}"`) : cluster.readSecret(key, signal),
  }));

test('rule 11: a Secret that may not be read is left alone, and status says why and when its link dies', async () => {
  const world = await publishedWorld();
  const version = world.status().active?.version;
  const [secret, calls] = [world.output(), world.vendor.calls.length];
  const giveBack = withoutSecret(world);
  await world.until(() => world.condition('Ready') === 'False/OutputUnreadable', minuteMs);
  assert.equal(world.condition('LinkFresh'), 'True/Fresh');
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'now');
  await world.run(hourMs);
  assert.equal(world.condition('LinkFresh'), 'False/Dead');
  assert.equal(world.condition('Stalled'), 'True/OutputUnreadable');
  assert.equal(world.vendor.calls.length, calls, 'something was asked for blindly');
  assert.deepEqual(world.output(), secret);
  assert.equal(world.status().active?.version, version, 'what was known is kept');
  const told = world.events.filter(({ reason }) => reason === 'OutputUnreadable');
  assert.equal(told.length, 1);
  assert.match(told[0]?.message ?? '', /does not allow "get" on secrets "site-bundle"/);
  const writes = world.cluster.writes.length;
  await world.run(6 * hourMs);
  assert.equal(world.cluster.writes.length, writes, 'nothing changes while nothing can be known');
  giveBack();
  await world.until(() => world.isLinkLive(), 2 * minuteMs);
  await world.until(() => world.condition('Ready') === 'True/Published', minuteMs);
  await world.until(() => world.status().active?.version !== version, hourMs);
});

test('rule 11: who comes to it anew believes a refusal that status tells already', async () => {
  const world = await publishedWorld();
  withoutSecret(world);
  await world.until(() => world.condition('Ready') === 'False/OutputUnreadable', minuteMs);
  world.restart();
  const { error } = await world.turn();
  assert.equal(error, undefined);
});

test('rule 6: a refusal that is over in a moment is in no status', async () => {
  const world = await publishedWorld();
  const [status, writes] = [world.status(), world.cluster.writes.length];
  const giveBack = withoutSecret(world);
  await world.run(5000, ({ error }) => assert.ok(error instanceof ClusterError));
  giveBack();
  await world.run(minuteMs);
  assert.deepEqual(world.status(), status);
  assert.equal(world.cluster.writes.length, writes);
});

test('rule 4: a ConfigMap that may not be read holds promotions, and the link is refreshed', async () => {
  const world = await publishedWorld();
  const version = world.status().active?.version;
  const giveBack = withoutRights(world, () => ({
    readConfigMap: (key) => refuse(`"get" on configmaps "${key.name}"`),
  }));
  await world.until(() => world.condition('Stalled') === 'True/OutputUnreadable', minuteMs);
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'now');
  await world.run(6 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.equal(world.condition('LinkFresh'), 'True/Fresh');
  assert.equal(world.output()?.['version'], version);
  // A Secret that is lost meanwhile comes back: that much is known.
  world.cluster.secrets.delete(`${resource.namespace}/${outputName}`);
  await world.until(() => world.isLinkLive(), 2 * minuteMs);
  assert.equal(world.output()?.['version'], version);
  giveBack();
  await world.until(() => world.output()?.['version'] !== version, hourMs);
  assert.equal(world.condition('Ready'), 'True/Published');
});

test('rule 1: where status may not be written the link is kept alive, and an event tells what keeps it', async () => {
  const world = await publishedWorld();
  world.vendor.linkLifetimeMs = hourMs;
  await world.run(hourMs);
  const before = world.status();
  const giveBack = withoutRights(world, () => ({
    writeStatus: () => refuse('"patch" on staticexports/status "site"'),
  }));
  await world.run(6 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.deepEqual(world.status(), before);
  const told = world.events.filter(({ reason }) => reason === 'StatusWriteFailed');
  assert.ok(told.length > 0);
  assert.equal(new Set(told.map(({ message }) => message)).size, 1, 'repeats are counted into one');
  giveBack();
  await world.until(() => world.status().active?.linkExpiresAt !== before.active?.linkExpiresAt, hourMs);
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.equal(world.vendor.jobs.size, 1);
});
