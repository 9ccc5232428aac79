// The rules of the published link as short stories without chance: replaced in time, never written for nothing,
// found again when it is lost. One thing happens to a resource in each, and what must be seen of it is asserted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconcile } from '../../src/loop/reconcile.ts';
import { noFaults } from './faults.ts';
import { Oracles } from './oracles.ts';
import { configMapId, hourMs, minuteMs, publishedWorld, request } from './published-world.ts';
import { outputName, resource, World } from './world.ts';

test('rule 1: a link of half a minute is replaced at its share of life, for an hour', async () => {
  const world = new World({ spec: { linkRefresh: { minInterval: '5s' } } });
  world.vendor.linkLifetimeMs = 30_000;
  await world.until(() => world.condition('Ready') === 'True/Published');
  await world.run(hourMs, () => assert.ok(world.isLinkLive()));
  const perHour = world.callsOf('issue');
  assert.ok(perHour >= 3600 / 20 - 2 && perHour <= 3600 / 17 + 3, `${perHour} issues`);
});

test('rule 1: a vendor whose clock is ten minutes off changes nothing', async () => {
  for (const skewMs of [-600_000, 600_000]) {
    const world = new World();
    world.vendor.skewMs = skewMs;
    await world.until(() => world.condition('Ready') === 'True/Published');
    await world.run(2 * hourMs, () => assert.ok(world.isLinkLive()));
  }
});

test('rule 1: our clock set back or forward by an hour leaves no dead link', async () => {
  for (const jumpMs of [-hourMs, hourMs]) {
    const world = await publishedWorld();
    world.clock.jump(jumpMs);
    world.prompt();
    await world.run(2 * hourMs, () => assert.ok(world.isLinkLive()));
  }
});

test('rule 1: our clock set back is no reason to trust a link that is handed out again for longer', async () => {
  const world = new World();
  world.vendor.isCachingLinks = true;
  await world.until(() => world.condition('Ready') === 'True/Published');
  await world.run(5 * minuteMs);
  world.clock.jump(-14 * minuteMs);
  world.prompt();
  let deadMs = 0;
  for (let second = 0; second < 1800; second += 1) {
    await world.run(1000);
    if (!world.isLinkLive()) deadMs += 1000;
  }
  assert.ok(deadMs <= 30_000, `${deadMs} ms without a live link`);
});

test('rule 1: a link that is handed out again until it dies is not written twice, and replaced when it is dead', async () => {
  const world = new World();
  world.vendor.isCachingLinks = true;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const first = world.output()?.['bundleUrl'];
  await world.run(14 * minuteMs, () => assert.equal(world.output()?.['bundleUrl'], first));
  await world.run(2 * minuteMs);
  assert.notEqual(world.output()?.['bundleUrl'], first);
  assert.ok(world.isLinkLive());
});

test('rule 1: the same link without a stated expiry lives no longer for being handed out again', async () => {
  const world = new World();
  world.vendor.isCachingLinks = true;
  world.vendor.hidesExpiry = true;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const expiresAt = world.status().active?.linkExpirationTime;
  await world.run(13 * minuteMs);
  assert.equal(world.status().active?.linkExpirationTime, expiresAt);
  await world.run(4 * minuteMs);
  assert.ok(world.isLinkLive());
});

test('rule 1: an edit that was read too early is seen at the next look, and its time of refresh holds from there', async () => {
  const world = new World();
  world.vendor.linkLifetimeMs = hourMs;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const oracles = new Oracles(world);
  let isStale = true;
  world.faults = {
    next: (call) => {
      if (call !== 'cluster.readStaticExport' || !isStale) return 'none';
      isStale = false;
      return 'stale';
    },
  };
  world.editSpec({ linkRefresh: { atPercent: 20 } });
  await oracles.check(await world.turn(), true);
  const { observedGeneration } = world.status();
  assert.notEqual(
    observedGeneration,
    world.object()?.metadata.generation,
    'status says what it has not seen',
  );
  const issues = world.callsOf('issue');
  await world.run(hourMs, (turn) => oracles.check(turn));
  assert.equal(world.status().observedGeneration, world.object()?.metadata.generation);
  await world.run(hourMs, (turn) => oracles.check(turn));
  assert.ok(world.callsOf('issue') - issues >= 6, `${world.callsOf('issue') - issues} issues`);
});

test('rule 1: links that die before the floor between two are said to live too short', async () => {
  const world = new World({ spec: { linkRefresh: { minInterval: '30s' } } });
  world.vendor.linkLifetimeMs = 30_000;
  await world.until(() => world.condition('LinkFresh') === 'False/LifetimeTooShort');
  assert.equal(world.condition('Ready'), 'True/Published');
});

test('rule 2: a refresh changes the Secret and leaves version, ConfigMap and history alone', async () => {
  const world = await publishedWorld();
  const configMap = world.cluster.configMaps.get(configMapId);
  const { version, bundleUrl } = world.output() ?? {};
  await world.run(hourMs);
  assert.notEqual(world.output()?.['bundleUrl'], bundleUrl);
  assert.equal(world.output()?.['version'], version);
  assert.equal(world.cluster.configMaps.get(configMapId), configMap);
  assert.equal(world.status().history?.length, 1);
});

test('rule 6: an idle resource costs no call and no write between its timers', async () => {
  const world = await publishedWorld();
  const writes = world.cluster.writes.length;
  const calls = world.vendor.calls.length;
  for (let look = 0; look < 20; look += 1) {
    await world.clock.pass(10_000);
    await world.turn();
  }
  assert.equal(world.cluster.writes.length, writes);
  assert.equal(world.vendor.calls.length, calls);
});

test('rule 8: the published job is gone: serving goes on, and one new export gives it a link again', async () => {
  const world = await publishedWorld();
  const before = world.output();
  world.vendor.jobs.clear();
  await world.until(() => world.condition('LinkFresh') === 'False/JobGone');
  assert.deepEqual(world.output(), before);
  await world.until(() => world.condition('LinkFresh') === 'True/Fresh', 10 * minuteMs);
  assert.equal(world.output()?.['version'], before?.['version'], 'the same content under the same version');
  assert.notEqual(world.status().active?.jobId, JSON.parse(before?.['bundle.json'] ?? '{}').jobId);
  assert.equal(world.callsOf('start'), 2);
});

test('rule 9: links that are dead on arrival are issued again, three times and no more', async () => {
  const world = await publishedWorld();
  const before = world.callsOf('issue');
  const dead = world.context();
  const bundles = { ...dead.bundles, probe: async () => 'expired' as const };
  await world.clock.pass(10 * minuteMs);
  await world.clock.finish(reconcile(resource, { ...dead, bundles }, new AbortController().signal));
  assert.equal(world.callsOf('issue') - before, 3);
  assert.equal(world.status().failures?.link?.reason, 'ExpiredOnArrival');
});

test('rule 11: a lost Secret is made again under the same version', async () => {
  const world = await publishedWorld();
  const before = world.output()?.['version'];
  world.cluster.secrets.delete(configMapId);
  world.prompt();
  await world.until(() => world.output() !== undefined, minuteMs);
  assert.equal(world.output()?.['version'], before);
  assert.equal(world.callsOf('start'), 1);
});

test('rule 11: a Secret of somebody else is never overwritten', async () => {
  const world = new World();
  world.cluster.putSecret({ namespace: 'docs', name: outputName }, { theirs: 'yes' });
  await world.run(hourMs);
  assert.equal(world.condition('Stalled'), 'True/OutputNotOwned');
  assert.deepEqual(world.output(), { theirs: 'yes' });
  assert.equal(world.vendor.calls.length, 0);
  world.cluster.secrets.delete(configMapId);
  await world.until(() => world.condition('Ready') === 'True/Published', 5 * minuteMs);
});

test('a published version that status forgot is taken from the Secret', async () => {
  const world = await publishedWorld();
  const before = world.output();
  const object = world.object();
  assert.ok(object);
  await world.cluster.writeStatus(object, { observedGeneration: -1 });
  world.prompt();
  await world.turn();
  assert.equal(world.status().active?.version, before?.['version']);
  assert.deepEqual(world.output(), before);
});

test('an archive that takes an hour to read delays no refresh', async () => {
  const world = await publishedWorld();
  world.vendor.readMs = 8 * minuteMs;
  world.vendor.contents.set('docs.example.com', { name: 'large', pages: 20 });
  world.vendor.linkLifetimeMs = 4 * minuteMs;
  await world.run(12 * minuteMs);
  request(world, 'large');
  await world.run(11 * minuteMs, () => assert.ok(world.isLinkLive()));
});

test('a clock set back under a link that is handed out again: its end is known from the answer', async () => {
  const world = await publishedWorld();
  world.vendor.isCachingLinks = true;
  await world.run(3 * minuteMs);
  world.jump(-5 * minuteMs);
  world.prompt();
  const oracles = new Oracles(world);
  await world.run(60 * minuteMs, (turn) => oracles.check(turn));
});

test('a link whose first answer was lost counts from the answer that it came with (life 494)', async () => {
  const world = new World();
  const { vendor } = world;
  vendor.linkLifetimeMs = 10 * hourMs;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const oracles = new Oracles(world);
  // The one link request of the refresh is answered into the void, and then the vendor is away.
  let issues = 0;
  world.faults = {
    next: (name) => {
      if (name !== 'api.issueLink') return 'none';
      issues += 1;
      if (issues > 1) vendor.failing = 'ServerError';
      return issues > 1 ? 'none' : 'lost';
    },
  };
  const before = world.output()?.['bundleUrl'];
  await world.run(7 * hourMs);
  await world.run(hourMs);
  assert.ok(issues > 1 && world.output()?.['bundleUrl'] === before);
  const known = vendor.links.size;
  vendor.failing = undefined;
  world.faults = noFaults;
  vendor.isCachingLinks = true;
  await world.until(() => world.output()?.['bundleUrl'] !== before);
  assert.equal(vendor.links.size, known, 'the link was not one that had been handed out before');
  vendor.isCachingLinks = false;
  await world.run(10 * hourMs, (turn) => oracles.check(turn));
  assert.notEqual(world.output()?.['bundleUrl'], before);
});

test('a refresh put off by an answer that no status holds: LinkFresh says Due at its time (life 5616)', async () => {
  const world = new World();
  const { vendor } = world;
  vendor.linkLifetimeMs = 12 * hourMs;
  await world.until(() => world.condition('Ready') === 'True/Published');
  // The vendor asks to wait, and the status that would say so is lost: only the process knows.
  vendor.failing = 'RateLimited';
  vendor.retryAfterMs = 3 * hourMs;
  world.faults = { next: (name) => (name === 'cluster.writeStatus' ? 'refused' : 'none') };
  const before = world.output()?.['bundleUrl'];
  const issues = world.callsOf('issue');
  await world.until(() => world.callsOf('issue') > issues, 12 * hourMs);
  world.faults = noFaults;
  vendor.failing = undefined;
  vendor.retryAfterMs = undefined;
  // Passes to which nobody owes anything, so that the oracle takes the one that turns the condition for idle.
  world.echoes = 1;
  const oracles = new Oracles(world);
  await world.run(2 * hourMs, (turn) => oracles.check(turn));
  world.echoes = 0;
  assert.equal(world.status().failures?.link, undefined);
  assert.equal(world.condition('LinkFresh'), 'False/Due');
  assert.equal(world.output()?.['bundleUrl'], before);
  await world.until(() => world.output()?.['bundleUrl'] !== before, 2 * hourMs);
  assert.ok(world.isLinkLive());
});
