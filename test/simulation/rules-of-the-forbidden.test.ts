// What the rules say of a key that is good for one thing and forbidden another (403): whom it delays, how often it is
// tried, and what ends the wait. One short story each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '../../src/loop/memory.ts';
import { reconcile } from '../../src/loop/reconcile.ts';
import type { ObjectKey } from '../../src/wire/cluster.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, publishedWorld, request } from './published-world.ts';
import { keySecret, resource, type World } from './world.ts';

const other: ObjectKey = { namespace: 'docs', name: 'other' };

/** Runs a second resource beside the world's own, in the same process, each at its own wake-ups. */
async function runBoth(world: World, ms: number, watch: () => void): Promise<void> {
  const memory = createMemory(new AbortController().signal);
  const signal = new AbortController().signal;
  const end = world.clock.monotonic() + ms;
  const wakes = new Map<ObjectKey, number>([
    [other, 0],
    [resource, 0],
  ]);
  for (;;) {
    const [next] = [...wakes].sort(([, a], [, b]) => a - b);
    if (next === undefined || next[1] > end) return;
    await world.clock.pass(Math.max(0, next[1] - world.clock.monotonic()));
    watch();
    const { wakeAfterMs = hourMs } = await world.clock.finish(
      reconcile(next[0], world.context(memory), signal),
    );
    wakes.set(next[0], world.clock.monotonic() + wakeAfterMs);
  }
}

test('rule 8: what is forbidden to one resource kills no link of another with the same key', async () => {
  const world = await publishedWorld();
  world.cluster.create(other, { domain: 'other.example.com', api: { keySecretRef: { name: 'export-api' } } });
  world.vendor.forbidden.add('other.example.com');
  await runBoth(world, 6 * hourMs, () => assert.ok(world.isLinkLive(), 'the healthy link is dead'));
  const starts = world.vendor.calls.filter(({ kind }) => kind === 'start').length;
  assert.ok(starts <= 1 + 6 * 4 + 1, `${starts} starts: a forbidden one is tried every 15 minutes`);
});

test('rule 8: new inputs that are forbidden delay no refresh', async () => {
  const world = await publishedWorld();
  world.vendor.forbidden.add('www.example.com');
  world.editSpec({ domain: 'www.example.com' });
  await world.run(6 * hourMs, () => assert.ok(world.isLinkLive(), 'dead while its own API answers'));
});

async function forbiddenRefresh(): Promise<World> {
  const world = await publishedWorld();
  world.vendor.failing = 'Forbidden';
  await world.until(() => world.status().failures?.link?.reason === 'Forbidden', 15 * minuteMs);
  return world;
}

test('rule 8: a forbidden refresh is tried within a minute of a change of the key’s Secret, and once (life 1452)', async () => {
  const world = await forbiddenRefresh();
  const issues = world.callsOf('issue');
  await world.run(90_000);
  assert.equal(world.callsOf('issue'), issues, 'tried again although nothing had changed');
  // Nobody tells the operator of either: it has no watch on Secrets.
  world.cluster.putSecret(keySecret, { apiKey: world.vendor.validKey });
  await world.run(minuteMs);
  assert.equal(world.callsOf('issue'), issues + 1);
  world.restart();
  await world.run(minuteMs);
  assert.equal(world.callsOf('issue'), issues + 1, 'one change, one try');
  world.vendor.failing = undefined;
  world.cluster.putSecret(keySecret, { apiKey: world.vendor.validKey });
  const oracles = new Oracles(world);
  oracles.disturb();
  await world.run(hourMs, async (turn) => {
    assert.ok(turn.wasLinkLive, 'the link died although the key’s Secret was changed in time');
    await oracles.check(turn);
  });
});

test('rule 8: a new request is one free try of a forbidden refresh', async () => {
  const world = await forbiddenRefresh();
  const issues = world.callsOf('issue');
  request(world, 'try');
  await world.run(90_000);
  assert.equal(world.callsOf('issue'), issues + 1);
  world.vendor.failing = undefined;
  request(world, 'and again');
  await world.run(1000);
  assert.equal(world.callsOf('issue'), issues + 2);
  assert.equal(world.condition('LinkFresh'), 'True/Fresh');
});
