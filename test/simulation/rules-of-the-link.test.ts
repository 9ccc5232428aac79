// The rules of the published link as short scenarios without randomness: refreshed in time, never written without
// need, restored when lost. Each has one event and asserts its visible effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconcile } from '#operator/loop/reconcile.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { noFaults } from './faults.ts';
import { Oracles } from './oracles.ts';
import { configMapId, hourMs, minuteMs, publishedSimulation, request } from './published-simulation.ts';
import { outputName, resource, Simulation } from './simulation.ts';

test('rule 1: a link valid for half a minute is refreshed at its share of the lifetime, for an hour', async () => {
  const simulation = new Simulation({ spec: { linkRefresh: { minInterval: '5s' } } });
  simulation.vendor.linkLifetimeMs = 30_000;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  await simulation.run(hourMs, () => assert.ok(simulation.isLinkValid()));
  const perHour = simulation.callsOf('issue');
  assert.ok(perHour >= 3600 / 20 - 2 && perHour <= 3600 / 17 + 3, `${perHour} issues`);
});

test('rule 1: a vendor whose clock is ten minutes off changes nothing', async () => {
  for (const skewMs of [-600_000, 600_000]) {
    const simulation = new Simulation();
    simulation.vendor.skewMs = skewMs;
    await simulation.until(() => simulation.condition('Ready') === 'True/Published');
    await simulation.run(2 * hourMs, () => assert.ok(simulation.isLinkValid()));
  }
});

test('rule 1: with the operator’s clock set back or forward by an hour no link expires', async () => {
  for (const jumpMs of [-hourMs, hourMs]) {
    const simulation = await publishedSimulation();
    simulation.clock.jump(jumpMs);
    simulation.prompt();
    await simulation.run(2 * hourMs, () => assert.ok(simulation.isLinkValid()));
  }
});

test('rule 1: after the operator’s clock is set back, a link that is issued again is not trusted for longer', async () => {
  const simulation = new Simulation();
  simulation.vendor.isCachingLinks = true;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  await simulation.run(5 * minuteMs);
  simulation.clock.jump(-14 * minuteMs);
  simulation.prompt();
  let deadMs = 0;
  for (let second = 0; second < 1800; second += 1) {
    await simulation.run(1000);
    if (!simulation.isLinkValid()) deadMs += 1000;
  }
  assert.ok(deadMs <= 30_000, `${deadMs} ms without a valid link`);
});

test('rule 1: a link that is issued again until it expires is not written twice, and is replaced after its expiry', async () => {
  const simulation = new Simulation();
  simulation.vendor.isCachingLinks = true;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const first = simulation.output()?.['bundleUrl'];
  await simulation.run(14 * minuteMs, () => assert.equal(simulation.output()?.['bundleUrl'], first));
  await simulation.run(2 * minuteMs);
  assert.notEqual(simulation.output()?.['bundleUrl'], first);
  assert.ok(simulation.isLinkValid());
});

test('rule 1: the same link without a stated expiry is not valid for longer when it is issued again', async () => {
  const simulation = new Simulation();
  simulation.vendor.isCachingLinks = true;
  simulation.vendor.hidesExpiry = true;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const expiresAt = simulation.status().active?.linkExpirationTime;
  await simulation.run(13 * minuteMs);
  assert.equal(simulation.status().active?.linkExpirationTime, expiresAt);
  await simulation.run(4 * minuteMs);
  assert.ok(simulation.isLinkValid());
});

test('rule 1: an edit that a stale read missed is seen at the next reconcile, and its refresh time holds from then', async () => {
  const simulation = new Simulation();
  simulation.vendor.linkLifetimeMs = hourMs;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const oracles = new Oracles(simulation);
  let isStale = true;
  simulation.faults = {
    next: (call) => {
      if (call !== 'cluster.readStaticExport' || !isStale) return 'none';
      isStale = false;
      return 'stale';
    },
  };
  simulation.editSpec({ linkRefresh: { atPercent: 20 } });
  await oracles.check(await simulation.step(), true);
  const { observedGeneration } = simulation.status();
  assert.notEqual(
    observedGeneration,
    simulation.object()?.metadata.generation,
    'status says what it has not seen',
  );
  const issues = simulation.callsOf('issue');
  await simulation.run(hourMs, (step) => oracles.check(step));
  assert.equal(simulation.status().observedGeneration, simulation.object()?.metadata.generation);
  await simulation.run(hourMs, (step) => oracles.check(step));
  assert.ok(simulation.callsOf('issue') - issues >= 6, `${simulation.callsOf('issue') - issues} issues`);
});

test('rule 1: links that expire before minInterval are reported as too short', async () => {
  const simulation = new Simulation({ spec: { linkRefresh: { minInterval: '30s' } } });
  simulation.vendor.linkLifetimeMs = 30_000;
  await simulation.until(() => simulation.condition('LinkFresh') === 'False/LifetimeTooShort');
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

test('rule 2: a refresh changes the Secret, and not the version, ConfigMap or history', async () => {
  const simulation = await publishedSimulation();
  const configMap = simulation.cluster.configMaps.get(configMapId);
  const { version, bundleUrl } = simulation.output() ?? {};
  await simulation.run(hourMs);
  assert.notEqual(simulation.output()?.['bundleUrl'], bundleUrl);
  assert.equal(simulation.output()?.['version'], version);
  assert.equal(simulation.cluster.configMaps.get(configMapId), configMap);
  assert.equal(simulation.status().history?.length, 1);
});

test('rule 6: an idle resource costs no call and no write between its timers', async () => {
  const simulation = await publishedSimulation();
  const writes = simulation.cluster.writes.length;
  const calls = simulation.vendor.calls.length;
  for (let index = 0; index < 20; index += 1) {
    await simulation.clock.pass(10_000);
    await simulation.step();
  }
  assert.equal(simulation.cluster.writes.length, writes);
  assert.equal(simulation.vendor.calls.length, calls);
});

test('rule 8: after the published job is lost serving continues, and one new export gives a new link', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output();
  simulation.vendor.jobs.clear();
  await simulation.until(() => simulation.condition('LinkFresh') === 'False/JobGone');
  assert.deepEqual(simulation.output(), before);
  await simulation.until(() => simulation.condition('LinkFresh') === 'True/Fresh', 10 * minuteMs);
  assert.equal(
    simulation.output()?.['version'],
    before?.['version'],
    'the same content under the same version',
  );
  assert.notEqual(simulation.status().active?.jobId, JSON.parse(before?.['bundle.json'] ?? '{}').jobId);
  assert.equal(simulation.callsOf('start'), 2);
});

test('rule 9: a link that is refused when it is probed is issued again, at most three times', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.callsOf('issue');
  const dead = simulation.context();
  const expired = new PublishableError('LinkExpired', 'Storage s3.example.com returned 403', {
    kind: 'wait',
  });
  const bundles = { ...dead.bundles, probe: async () => expired };
  await simulation.clock.pass(10 * minuteMs);
  await simulation.clock.finish(reconcile(resource, { ...dead, bundles }, new AbortController().signal));
  assert.equal(simulation.callsOf('issue') - before, 3);
  assert.equal(simulation.status().failures?.link?.reason, 'ExpiredOnArrival');
});

test('rule 9: a storage that refuses valid links is named, costs one link for each attempt, and is asked again', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.callsOf('issue');
  simulation.vendor.isRefusing = true;
  await simulation.run(20 * minuteMs);
  const { reason, message, count } = simulation.status().failures?.link ?? {};
  assert.deepEqual([reason, message], ['LinkRefused', 'Storage s3.example.com returned 403']);
  assert.equal(simulation.condition('Ready'), 'False/LinkExpired');
  assert.equal(simulation.callsOf('issue') - before, count);
  simulation.vendor.isRefusing = false;
  await simulation.run(20 * minuteMs);
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

test('rule 9: a link that is not valid yet is waited for, and no other link is taken', async () => {
  const simulation = new Simulation();
  simulation.vendor.storageBehindMs = 2 * minuteMs;
  await simulation.run(5 * minuteMs);
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(simulation.callsOf('issue'), 1);
});

test('rule 11: a lost Secret is created again with the same version', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output()?.['version'];
  simulation.cluster.secrets.delete(configMapId);
  simulation.prompt();
  await simulation.until(() => simulation.output() !== undefined, minuteMs);
  assert.equal(simulation.output()?.['version'], before);
  assert.equal(simulation.callsOf('start'), 1);
});

test('rule 11: a foreign Secret is never overwritten', async () => {
  const simulation = new Simulation();
  simulation.cluster.putSecret({ namespace: 'docs', name: outputName }, { theirs: 'yes' });
  await simulation.run(hourMs);
  assert.equal(simulation.condition('Stalled'), 'True/OutputNotOwned');
  assert.deepEqual(simulation.output(), { theirs: 'yes' });
  assert.equal(simulation.vendor.calls.length, 0);
  simulation.cluster.secrets.delete(configMapId);
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 5 * minuteMs);
});

test('a published version that status lost is adopted from the Secret', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output();
  const object = simulation.object();
  assert.ok(object);
  await simulation.cluster.writeStatus(object, { observedGeneration: -1 });
  simulation.prompt();
  await simulation.step();
  assert.equal(simulation.status().active?.version, before?.['version']);
  assert.deepEqual(simulation.output(), before);
});

test('an inspection that takes an hour delays no refresh', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.readMs = 8 * minuteMs;
  simulation.vendor.contents.set('docs.example.com', { name: 'large', pages: 20 });
  simulation.vendor.linkLifetimeMs = 4 * minuteMs;
  await simulation.run(12 * minuteMs);
  request(simulation, 'large');
  await simulation.run(11 * minuteMs, () => assert.ok(simulation.isLinkValid()));
});

test('after the clock is set back, the answer gives the expiry of a link that is issued again', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.isCachingLinks = true;
  await simulation.run(3 * minuteMs);
  simulation.jump(-5 * minuteMs);
  simulation.prompt();
  const oracles = new Oracles(simulation);
  await simulation.run(60 * minuteMs, (step) => oracles.check(step));
});

test('the lifetime of a link whose first answer was lost counts from the answer that brought it (seed 494)', async () => {
  const simulation = new Simulation();
  const { vendor } = simulation;
  vendor.linkLifetimeMs = 10 * hourMs;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const oracles = new Oracles(simulation);
  // The answer to the refresh's only link request is lost, and then the vendor is away.
  let issues = 0;
  simulation.faults = {
    next: (name) => {
      if (name !== 'api.issueLink') return 'none';
      issues += 1;
      if (issues > 1) vendor.failing = 'ServerError';
      return issues > 1 ? 'none' : 'lost';
    },
  };
  const before = simulation.output()?.['bundleUrl'];
  await simulation.run(7 * hourMs);
  await simulation.run(hourMs);
  assert.ok(issues > 1 && simulation.output()?.['bundleUrl'] === before);
  const known = vendor.links.size;
  vendor.failing = undefined;
  simulation.faults = noFaults;
  vendor.isCachingLinks = true;
  await simulation.until(() => simulation.output()?.['bundleUrl'] !== before);
  assert.equal(vendor.links.size, known, 'the link was not one that had been issued before');
  vendor.isCachingLinks = false;
  await simulation.run(10 * hourMs, (step) => oracles.check(step));
  assert.notEqual(simulation.output()?.['bundleUrl'], before);
});

test('LinkFresh says Due in time when a refresh is delayed by an answer that is in no status (seed 5616)', async () => {
  const simulation = new Simulation();
  const { vendor } = simulation;
  vendor.linkLifetimeMs = 12 * hourMs;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  // The vendor asks to wait, and the status write with that is lost, so only the process remembers it.
  vendor.failing = 'RateLimited';
  vendor.retryAfterMs = 3 * hourMs;
  simulation.faults = { next: (name) => (name === 'cluster.writeStatus' ? 'refused' : 'none') };
  const before = simulation.output()?.['bundleUrl'];
  const issues = simulation.callsOf('issue');
  await simulation.until(() => simulation.callsOf('issue') > issues, 12 * hourMs);
  simulation.faults = noFaults;
  vendor.failing = undefined;
  vendor.retryAfterMs = undefined;
  // Reconciles without a due action, so that the oracle counts the one that changes the condition as idle.
  simulation.echoes = 1;
  const oracles = new Oracles(simulation);
  await simulation.run(2 * hourMs, (step) => oracles.check(step));
  simulation.echoes = 0;
  assert.equal(simulation.status().failures?.link, undefined);
  assert.equal(simulation.condition('LinkFresh'), 'False/Due');
  assert.equal(simulation.output()?.['bundleUrl'], before);
  await simulation.until(() => simulation.output()?.['bundleUrl'] !== before, 2 * hourMs);
  assert.ok(simulation.isLinkValid());
});

test('a requested link replaces the published link at once, and its token issues no second link', async () => {
  const simulation = await publishedSimulation({ spec: { linkRefresh: { minInterval: '10m' } } });
  const before = simulation.output();
  simulation.annotate({ 'staticexport.dev/refreshRequestedAt': 'leaked' });
  await simulation.until(() => simulation.status().lastHandledRefresh === 'leaked', minuteMs);
  const after = simulation.output();
  assert.notEqual(after?.['bundleUrl'], before?.['bundleUrl']);
  assert.equal(after?.['version'], before?.['version']);
  assert.ok(simulation.isLinkValid());
  const issued = simulation.callsOf('issue');
  await simulation.run(5 * minuteMs);
  assert.equal(simulation.callsOf('issue'), issued);
});

test('a link that is requested while the export API is away is issued when it answers again', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output()?.['bundleUrl'];
  simulation.vendor.failing = 'ServerError';
  simulation.annotate({ 'staticexport.dev/refreshRequestedAt': 'leaked' });
  await simulation.run(5 * minuteMs);
  assert.deepEqual(
    [simulation.output()?.['bundleUrl'], simulation.status().lastHandledRefresh],
    [before, undefined],
  );
  simulation.vendor.failing = undefined;
  await simulation.until(() => simulation.status().lastHandledRefresh === 'leaked', 10 * minuteMs);
  assert.notEqual(simulation.output()?.['bundleUrl'], before);
});

for (const code of ['ServerError', 'RateLimited', 'Forbidden', 'NotFound', 'UnexpectedAnswer'] as const) {
  test(`a link that is requested while the export API answers ${code} is requested a few times an hour`, async () => {
    const simulation = await publishedSimulation();
    simulation.vendor.linkLifetimeMs = 72 * hourMs;
    simulation.annotate({ 'staticexport.dev/refreshRequestedAt': 'long' });
    await simulation.until(() => simulation.status().lastHandledRefresh === 'long', minuteMs);
    simulation.vendor.failing = code;
    const issued = simulation.callsOf('issue');
    simulation.annotate({ 'staticexport.dev/refreshRequestedAt': 'leaked' });
    await simulation.run(hourMs);
    const attempts = simulation.callsOf('issue') - issued;
    assert.ok(attempts >= 1 && attempts <= 30, `${attempts} attempts`);
  });
}

test('a CRD without lastHandledRefresh costs one link, and no export waits for it', async () => {
  const simulation = await publishedSimulation({ spec: { schedule: '0 * * * *' } });
  const { cluster } = simulation;
  const writeStatus = cluster.writeStatus.bind(cluster);
  cluster.writeStatus = (object, next) => {
    const { lastHandledRefresh: _pruned, ...kept } = { lastHandledRefresh: undefined, ...next };
    return writeStatus(object, kept);
  };
  const [issued, started] = [simulation.callsOf('issue'), simulation.callsOf('start')];
  simulation.annotate({ 'staticexport.dev/refreshRequestedAt': 'leaked' });
  await simulation.run(5 * minuteMs);
  assert.equal(simulation.callsOf('issue'), issued + 1);
  await simulation.run(2 * hourMs);
  assert.equal(simulation.callsOf('start'), started + 2);
});

test('a request of a link that is older than the first publication issues no second link', async () => {
  const simulation = new Simulation();
  simulation.annotate({ 'staticexport.dev/refreshRequestedAt': 'from git' });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  await simulation.run(minuteMs);
  assert.equal(simulation.callsOf('issue'), 1);
  assert.equal(simulation.status().lastHandledRefresh, 'from git');
});

test('a deleted output Secret is one event and one warning, whether or not a link can be issued', async () => {
  for (const failing of [undefined, 'ServerError'] as const) {
    const simulation = await publishedSimulation();
    const { version } = simulation.status().active ?? assert.fail();
    for (const deletions of [1, 2]) {
      simulation.vendor.failing = failing;
      assert.ok(simulation.cluster.secrets.delete(configMapId));
      simulation.prompt();
      await simulation.run(failing === undefined ? minuteMs : 6 * hourMs);
      const missing = simulation.events.filter(({ reason }) => reason === 'OutputMissing');
      const message = `Secret docs/${outputName} was deleted. It is written again for version ${version} with the next link.`;
      assert.deepEqual(
        missing,
        Array.from({ length: deletions }, () => ({ type: 'Warning', reason: 'OutputMissing', message })),
      );
      const lines = simulation.logs.filter((line) => line.includes(message));
      assert.equal(lines.length, deletions, `${failing}`);
      simulation.vendor.failing = undefined;
      await simulation.until(() => simulation.isLinkValid());
      assert.equal(simulation.status().active?.version, version);
    }
  }
});

test('an output Secret that does not exist before the first version is no event', async () => {
  const { events } = await publishedSimulation();
  assert.equal(
    events.some(({ reason }) => reason === 'OutputMissing'),
    false,
  );
});
