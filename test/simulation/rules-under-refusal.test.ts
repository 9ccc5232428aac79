// What the rules say where others refuse, overtake or vanish: a job that is lost twice, a leader that slept, a cluster
// that takes no output. One short story each; what is forbidden (403) is in rules-of-the-forbidden.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '../../src/loop/memory.ts';
import { reconcile } from '../../src/loop/reconcile.ts';
import type { ObjectKey } from '../../src/wire/cluster.ts';
import { faultyCluster } from './faults.ts';
import { configMapId, hourMs, minuteMs, nextVerdict, publishedWorld, request } from './published-world.ts';
import { outputName, resource, World } from './world.ts';

const other: ObjectKey = { namespace: 'docs', name: 'other' };

const gapsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((at, index) => at - (times[index] ?? 0));

const issueTimes = (world: World): number[] =>
  world.vendor.calls.filter(({ kind }) => kind === 'issue').map(({ at }) => at);

test('rule 8: the published job may disappear twice, and a third time while its replacement fails', async () => {
  const world = await publishedWorld();
  for (const trouble of ['none', 'none', 'fails'] as const) {
    world.vendor.ending = trouble === 'fails' ? 'failed' : 'completed';
    const lost = world.status().active?.jobId ?? '';
    world.vendor.jobs.delete(lost);
    await world.run(hourMs);
    world.vendor.ending = 'completed';
    await world.until(() => world.status().active?.jobId !== lost, 2 * hourMs);
    assert.equal(world.condition('Ready'), 'True/Published');
    assert.ok(world.isLinkLive());
  }
});

test('rule 8: a replacement that a gate holds while the link is dead stalls with the gate’s reason', async () => {
  const world = await publishedWorld();
  world.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 2 });
  world.vendor.jobs.delete(world.status().active?.jobId ?? '');
  await world.until(() => world.condition('Stalled') === 'True/PageCountDropped');
  assert.equal(world.condition('Ready'), 'False/PageCountDropped');
  const starts = world.callsOf('start');
  await world.run(6 * hourMs);
  assert.equal(world.callsOf('start'), starts, 'one new export, and then a person');
});

test('rule 9: links that live too short to be read are asked for with a back-off', async () => {
  const world = new World();
  world.vendor.linkLifetimeMs = 5000;
  await world.run(hourMs);
  assert.ok(world.callsOf('issue') > 3 && world.callsOf('issue') < 40, `${world.callsOf('issue')} issues`);
  assert.match(world.condition('Exported'), /InspectionFailed/);
  world.vendor.linkLifetimeMs = 15 * minuteMs;
  await world.until(() => world.condition('Ready') === 'True/Published');
});

test('rule 8: minInterval is the floor between two link requests of a link that is dead before it', async () => {
  const world = await publishedWorld();
  world.vendor.linkLifetimeMs = 6000;
  await world.run(15 * minuteMs);
  const since = issueTimes(world).length;
  await world.run(30 * minuteMs);
  const gaps = gapsOf(issueTimes(world).slice(since));
  assert.ok(gaps.length > 10 && Math.min(...gaps) >= 30_000, gaps.join(' '));
});

test('rule 4: a leader that slept through a promotion does not undo it', async () => {
  const world = await publishedWorld();
  const old = createMemory(new AbortController().signal);
  const slept = Promise.withResolvers<void>();
  const asleep = Promise.withResolvers<void>();
  const context = world.context(old);
  await world.clock.pass(11 * minuteMs);
  const late = reconcile(
    resource,
    {
      ...context,
      cluster: {
        ...context.cluster,
        applySecret: async (object, signal) => {
          asleep.resolve();
          await slept.promise;
          return context.cluster.applySecret(object, signal);
        },
      },
    },
    new AbortController().signal,
  );
  await asleep.promise;
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'now');
  assert.equal(await nextVerdict(world), 'Promoted');
  const version = world.output()?.['version'];
  slept.resolve();
  await assert.rejects(late, { code: 'Conflict' });
  await world.run(hourMs);
  assert.equal(world.output()?.['version'], version);
});

test('rule 11: a Secret of somebody else that appears during the pass is not taken over', async () => {
  const world = new World();
  const plain = world.context();
  let isTheirs = false;
  world.bend = (context) => ({
    ...context,
    cluster: {
      ...context.cluster,
      applySecret: async (object, signal) => {
        if (!isTheirs) world.cluster.putSecret({ namespace: 'docs', name: outputName }, { theirs: '1' });
        isTheirs = true;
        return plain.cluster.applySecret(object, signal);
      },
    },
  });
  await world.until(() => world.condition('Stalled') === 'True/OutputNotOwned');
  assert.equal(world.output()?.['theirs'], '1');
  assert.equal(world.output()?.['bundleUrl'], undefined);
});

for (const when of ['refresh', 'promotion'] as const) {
  test(`rule 6: a cluster that refuses the ${when} for hours costs few issues, and says so`, async () => {
    const world = await publishedWorld();
    const before = world.output()?.['version'];
    world.faults = { next: (name) => (name === 'cluster.applySecret' ? 'refused' : 'none') };
    if (when === 'promotion') {
      world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
      request(world, 'now');
    }
    if (when === 'promotion') {
      await world.until(() => world.condition('Exported') === 'False/OutputWriteFailed', 5 * minuteMs);
      const { failures, job } = world.status();
      assert.equal(failures?.poll?.reason, 'OutputWriteFailed');
      assert.equal(failures?.poll?.subject, job?.id);
    }
    await world.run(3 * hourMs);
    assert.ok(world.callsOf('issue') < 60, `${world.callsOf('issue')} issues`);
    assert.equal(world.condition('Ready'), 'False/LinkExpired');
    assert.ok(world.events.some(({ reason }) => reason === 'OutputWriteFailed'));
    assert.equal(world.status().active?.version, before, 'status names what was never published');
    world.faults = { next: () => 'none' };
    await world.until(() => world.condition('Ready') === 'True/Published', 10 * minuteMs);
    await world.until(() => when === 'refresh' || world.output()?.['version'] !== before, 10 * minuteMs);
    assert.ok(world.isLinkLive());
  });
}

test('rule 6: a ConfigMap that the cluster will not take is in the conditions until it does', async () => {
  const world = await publishedWorld();
  world.faults = { next: (name) => (name === 'cluster.applyConfigMap' ? 'refused' : 'none') };
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'now');
  await world.until(() => world.condition('Exported') === 'False/OutputWriteFailed', 10 * minuteMs);
  assert.equal(world.condition('Ready'), 'True/Published', 'the Secret was taken, and servers follow it');
  assert.equal(world.output()?.['version'], world.status().active?.version);
  assert.notEqual(
    world.cluster.configMaps.get(configMapId)?.data['version'],
    world.output()?.['version'],
    'nothing was refused',
  );
  world.vendor.jobMs = hourMs;
  world.faults = { next: () => 'none' };
  request(world, 'and again');
  await world.until(() => world.condition('Exported') === 'True/Promoted', 30 * minuteMs);
  assert.equal(world.status().job?.verdict, undefined, 'said while the next job runs');
  assert.equal(world.cluster.configMaps.get(configMapId)?.data['version'], world.output()?.['version']);
});

test('rule 11: a foreign ConfigMap of the output’s name holds promotions, and the link is refreshed', async () => {
  const world = await publishedWorld();
  world.cluster.configMaps.delete(configMapId);
  world.cluster.putConfigMap({ namespace: 'docs', name: outputName }, { theirs: '1' });
  world.prompt();
  await world.until(() => world.condition('Stalled') === 'True/OutputNotOwned');
  await world.run(6 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.deepEqual(world.cluster.configMaps.get(configMapId)?.data, { theirs: '1' });
  assert.equal(world.condition('LinkFresh'), 'True/Fresh');
});

test('rule 8: the published job is asked of the API that made it, after the spec names another', async () => {
  const world = await publishedWorld();
  const start = world.vendor.calls.length;
  world.settings = { ...world.settings, allowedApiHosts: ['api.example.com', 'new.example.com'] };
  world.vendor.ending = 'failed';
  world.editSpec({ api: { baseUrl: 'https://new.example.com', keySecretRef: { name: 'export-api' } } });
  await world.run(2 * hourMs, () => assert.ok(world.isLinkLive()));
  for (const { kind, baseUrl } of world.vendor.calls.slice(start)) {
    assert.equal(baseUrl, kind === 'issue' ? 'https://api.example.com' : 'https://new.example.com');
  }
  world.vendor.ending = 'completed';
  request(world, 'now');
  await world.until(() => world.condition('Ready') === 'True/Published', hourMs);
  const moved = world.vendor.calls.length;
  await world.run(2 * hourMs);
  assert.ok(world.vendor.calls.slice(moved).every(({ baseUrl }) => baseUrl === 'https://new.example.com'));
});

test('rule 8: a Retry-After to a start holds after a restart', async () => {
  const world = new World();
  world.vendor.failing = 'ServerError';
  world.vendor.retryAfterMs = 20 * minuteMs;
  await world.turn();
  assert.equal(world.vendor.calls.length, 1);
  world.restart();
  await world.run(19 * minuteMs);
  assert.equal(world.vendor.calls.length, 1);
  await world.run(3 * minuteMs);
  assert.equal(world.vendor.calls.length, 2);
});

test('rule 8: a new request is one free try of a key that was refused to another resource', async () => {
  const world = await publishedWorld();
  const memory = createMemory(new AbortController().signal);
  const signal = new AbortController().signal;
  world.cluster.create(other, { domain: 'other.example.com', api: { keySecretRef: { name: 'export-api' } } });
  world.vendor.validKey = 'svc_secret-two';
  await world.clock.finish(reconcile(other, world.context(memory), signal));
  const calls = world.vendor.calls.length;
  await world.clock.finish(reconcile(resource, world.context(memory), signal));
  assert.equal(world.vendor.calls.length, calls);
  request(world, 'try');
  for (let passes = 0; passes < 3; passes += 1) {
    await world.clock.finish(reconcile(resource, world.context(memory), signal));
  }
  assert.equal(world.vendor.calls.length, calls + 1);
});

test('rule 3: an id is saved over a cluster that is away for a moment, keys honoured or not', async () => {
  const world = new World();
  world.vendor.isIdempotent = false;
  let writes = 0;
  world.bend = (context) => ({
    ...context,
    cluster: faultyCluster(
      context.cluster,
      {
        next: (name) => {
          if (name !== 'cluster.writeStatus') return 'none';
          writes += 1;
          return writes === 2 ? 'refused' : writes === 3 ? 'lost' : 'none';
        },
      },
      world.cluster,
    ),
  });
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.equal(world.vendor.jobs.size, 1);
});

test('rule 8: a Retry-After outlasts a read that does not find what is there, and not its deletion (life 2755)', async () => {
  const world = await publishedWorld();
  world.vendor.failing = 'RateLimited';
  world.vendor.retryAfterMs = 2 * hourMs;
  request(world, 'now');
  await world.run(minuteMs);
  const waits = () => [...world.memory().rateLimits.values()].map(({ closedUntil }) => closedUntil);
  const told = waits();
  assert.equal(told.length, 1);
  const { bend } = world;
  world.bend = (context, own) => {
    const bent = bend(context, own);
    return { ...bent, cluster: { ...bent.cluster, readStaticExport: async () => undefined } };
  };
  world.prompt();
  assert.equal((await world.turn()).outcome?.because, 'gone');
  assert.deepEqual(waits(), told);
  world.bend = bend;
  world.cluster.remove(resource);
  world.prompt();
  assert.equal((await world.turn()).outcome?.because, 'gone');
  assert.deepEqual(waits(), []);
});
