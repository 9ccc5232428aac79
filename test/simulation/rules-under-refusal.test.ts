// The rules when a job is lost twice, a frozen leader wakes, a cluster refuses the output, or an export API refuses.
// One short scenario each; forbidden calls (403) are in rules-of-the-forbidden.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { faultyCluster } from './faults.ts';
import {
  configMapId,
  hourMs,
  minuteMs,
  nextVerdict,
  publishedSimulation,
  request,
} from './published-simulation.ts';
import { outputName, resource, Simulation } from './simulation.ts';

const other: ObjectKey = { namespace: 'docs', name: 'other' };

const gapsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((at, index) => at - (times[index] ?? 0));

const issueTimes = (simulation: Simulation): number[] =>
  simulation.vendor.calls.filter(({ kind }) => kind === 'issue').map(({ at }) => at);

test('rule 8: the published job may be lost twice, and a third time while its replacement fails', async () => {
  const simulation = await publishedSimulation();
  for (const trouble of ['none', 'none', 'fails'] as const) {
    simulation.vendor.ending = trouble === 'fails' ? 'failed' : 'completed';
    const lost = simulation.status().active?.jobId ?? '';
    simulation.vendor.jobs.delete(lost);
    await simulation.run(hourMs);
    simulation.vendor.ending = 'completed';
    await simulation.until(() => simulation.status().active?.jobId !== lost, 2 * hourMs);
    assert.equal(simulation.condition('Ready'), 'True/Published');
    assert.ok(simulation.isLinkValid());
  }
});

test('rule 8: a replacement held while the link is expired stalls with the reason of its promotion gate', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 2 });
  simulation.vendor.jobs.delete(simulation.status().active?.jobId ?? '');
  await simulation.until(() => simulation.condition('Stalled') === 'True/PageCountDropped');
  assert.equal(simulation.condition('Ready'), 'False/PageCountDropped');
  const starts = simulation.callsOf('start');
  await simulation.run(6 * hourMs);
  assert.equal(simulation.callsOf('start'), starts, 'one new export, and then a stall');
});

test('rule 9: links that expire before they can be read are requested with back-off', async () => {
  const simulation = new Simulation();
  simulation.vendor.linkLifetimeMs = 5000;
  await simulation.run(hourMs);
  assert.ok(
    simulation.callsOf('issue') > 3 && simulation.callsOf('issue') < 40,
    `${simulation.callsOf('issue')} issues`,
  );
  assert.match(simulation.condition('Exported'), /InspectionFailed/);
  simulation.vendor.linkLifetimeMs = 15 * minuteMs;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
});

test('rule 8: minInterval is kept between two link requests, even when the link expires earlier', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.linkLifetimeMs = 6000;
  await simulation.run(15 * minuteMs);
  const since = issueTimes(simulation).length;
  await simulation.run(30 * minuteMs);
  const gaps = gapsOf(issueTimes(simulation).slice(since));
  assert.ok(gaps.length > 10 && Math.min(...gaps) >= 30_000, gaps.join(' '));
});

test('rule 4: a frozen leader that wakes after a promotion does not undo it', async () => {
  const simulation = await publishedSimulation();
  const old = createMemory(new AbortController().signal);
  const slept = Promise.withResolvers<void>();
  const asleep = Promise.withResolvers<void>();
  const context = simulation.context(old);
  await simulation.clock.pass(11 * minuteMs);
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
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'now');
  assert.equal(await nextVerdict(simulation), 'Promoted');
  const version = simulation.output()?.['version'];
  slept.resolve();
  await assert.rejects(late, { code: 'Conflict' });
  await simulation.run(hourMs);
  assert.equal(simulation.output()?.['version'], version);
});

test('rule 11: a foreign Secret that appears during the reconcile is not overwritten', async () => {
  const simulation = new Simulation();
  const plain = simulation.context();
  let isTheirs = false;
  simulation.bend = (context) => ({
    ...context,
    cluster: {
      ...context.cluster,
      applySecret: async (object, signal) => {
        if (!isTheirs) simulation.cluster.putSecret({ namespace: 'docs', name: outputName }, { theirs: '1' });
        isTheirs = true;
        return plain.cluster.applySecret(object, signal);
      },
    },
  });
  await simulation.until(() => simulation.condition('Stalled') === 'True/OutputNotOwned');
  assert.equal(simulation.output()?.['theirs'], '1');
  assert.equal(simulation.output()?.['bundleUrl'], undefined);
});

for (const when of ['refresh', 'promotion'] as const) {
  test(`rule 6: a cluster that refuses the ${when} for hours costs few link requests and is reported`, async () => {
    const simulation = await publishedSimulation();
    const before = simulation.output()?.['version'];
    simulation.faults = { next: (name) => (name === 'cluster.applySecret' ? 'refused' : 'none') };
    if (when === 'promotion') {
      simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
      request(simulation, 'now');
    }
    if (when === 'promotion') {
      await simulation.until(
        () => simulation.condition('Exported') === 'False/OutputWriteFailed',
        5 * minuteMs,
      );
      const { failures, job } = simulation.status();
      assert.equal(failures?.poll?.reason, 'OutputWriteFailed');
      assert.equal(failures?.poll?.subject, job?.id);
    }
    await simulation.run(3 * hourMs);
    assert.ok(simulation.callsOf('issue') < 60, `${simulation.callsOf('issue')} issues`);
    assert.equal(simulation.condition('Ready'), 'False/LinkExpired');
    assert.ok(simulation.events.some(({ reason }) => reason === 'OutputWriteFailed'));
    assert.equal(simulation.status().active?.version, before, 'status names what was never published');
    simulation.faults = { next: () => 'none' };
    await simulation.until(() => simulation.condition('Ready') === 'True/Published', 10 * minuteMs);
    await simulation.until(
      () => when === 'refresh' || simulation.output()?.['version'] !== before,
      10 * minuteMs,
    );
    assert.ok(simulation.isLinkValid());
  });
}

test('rule 6: conditions report a refused ConfigMap until the cluster accepts it', async () => {
  const simulation = await publishedSimulation();
  simulation.faults = { next: (name) => (name === 'cluster.applyConfigMap' ? 'refused' : 'none') };
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'now');
  await simulation.until(() => simulation.condition('Exported') === 'False/OutputWriteFailed', 10 * minuteMs);
  assert.equal(
    simulation.condition('Ready'),
    'True/Published',
    'the Secret was taken, and servers follow it',
  );
  assert.equal(simulation.output()?.['version'], simulation.status().active?.version);
  assert.notEqual(
    simulation.cluster.configMaps.get(configMapId)?.data['version'],
    simulation.output()?.['version'],
    'nothing was refused',
  );
  simulation.vendor.jobMs = hourMs;
  simulation.faults = { next: () => 'none' };
  request(simulation, 'and again');
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted', 30 * minuteMs);
  assert.equal(simulation.status().job?.verdict, undefined, 'said while the next job runs');
  assert.equal(
    simulation.cluster.configMaps.get(configMapId)?.data['version'],
    simulation.output()?.['version'],
  );
});

test('rule 11: with a foreign ConfigMap of the output’s name promotions wait, and the link is refreshed', async () => {
  const simulation = await publishedSimulation();
  simulation.cluster.configMaps.delete(configMapId);
  simulation.cluster.putConfigMap({ namespace: 'docs', name: outputName }, { theirs: '1' });
  simulation.prompt();
  await simulation.until(() => simulation.condition('Stalled') === 'True/OutputNotOwned');
  await simulation.run(6 * hourMs, () => assert.ok(simulation.isLinkValid()));
  assert.deepEqual(simulation.cluster.configMaps.get(configMapId)?.data, { theirs: '1' });
  assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
});

test('rule 8: links come from the export API of the published job after the spec names another API', async () => {
  const simulation = await publishedSimulation();
  const start = simulation.vendor.calls.length;
  simulation.settings = { ...simulation.settings, allowedApiHosts: ['api.example.com', 'new.example.com'] };
  simulation.vendor.ending = 'failed';
  simulation.editSpec({ api: { baseUrl: 'https://new.example.com', keySecretRef: { name: 'export-api' } } });
  await simulation.run(2 * hourMs, () => assert.ok(simulation.isLinkValid()));
  for (const { kind, baseUrl } of simulation.vendor.calls.slice(start)) {
    assert.equal(baseUrl, kind === 'issue' ? 'https://api.example.com' : 'https://new.example.com');
  }
  simulation.vendor.ending = 'completed';
  request(simulation, 'now');
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  const moved = simulation.vendor.calls.length;
  await simulation.run(2 * hourMs);
  assert.ok(
    simulation.vendor.calls.slice(moved).every(({ baseUrl }) => baseUrl === 'https://new.example.com'),
  );
});

test('rule 8: a Retry-After to a start holds after a restart', async () => {
  const simulation = new Simulation();
  simulation.vendor.failing = 'ServerError';
  simulation.vendor.retryAfterMs = 20 * minuteMs;
  await simulation.step();
  assert.equal(simulation.vendor.calls.length, 1);
  simulation.restart();
  await simulation.run(19 * minuteMs);
  assert.equal(simulation.vendor.calls.length, 1);
  await simulation.run(3 * minuteMs);
  assert.equal(simulation.vendor.calls.length, 2);
});

test('rule 8: a new request permits one attempt with a key that was refused to another resource', async () => {
  const simulation = await publishedSimulation();
  const memory = createMemory(new AbortController().signal);
  const signal = new AbortController().signal;
  simulation.cluster.create(other, {
    domain: 'other.example.com',
    api: { keySecretRef: { name: 'export-api' } },
  });
  simulation.vendor.validKey = 'svc_secret-two';
  await simulation.clock.finish(reconcile(other, simulation.context(memory), signal));
  const calls = simulation.vendor.calls.length;
  await simulation.clock.finish(reconcile(resource, simulation.context(memory), signal));
  assert.equal(simulation.vendor.calls.length, calls);
  request(simulation, 'try');
  for (let count = 0; count < 3; count += 1) {
    await simulation.clock.finish(reconcile(resource, simulation.context(memory), signal));
  }
  assert.equal(simulation.vendor.calls.length, calls + 1);
});

test('rule 3: a job id is saved although the cluster is away for a moment, with or without idempotency keys', async () => {
  const simulation = new Simulation();
  simulation.vendor.isIdempotent = false;
  let writes = 0;
  simulation.bend = (context) => ({
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
      simulation.cluster,
    ),
  });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.equal(simulation.vendor.jobs.size, 1);
});

test('rule 8: a Retry-After outlasts a read that misses the resource, but not its deletion (seed 2755)', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.failing = 'RateLimited';
  simulation.vendor.retryAfterMs = 2 * hourMs;
  request(simulation, 'now');
  await simulation.run(minuteMs);
  const waits = () => [...simulation.memory().rateLimits.values()].map(({ closedUntil }) => closedUntil);
  const reported = waits();
  assert.equal(reported.length, 1);
  const { bend } = simulation;
  simulation.bend = (context, own) => {
    const bent = bend(context, own);
    return { ...bent, cluster: { ...bent.cluster, readStaticExport: async () => undefined } };
  };
  simulation.prompt();
  assert.equal((await simulation.step()).outcome?.because, 'gone');
  assert.deepEqual(waits(), reported);
  simulation.bend = bend;
  simulation.cluster.remove(resource);
  simulation.prompt();
  assert.equal((await simulation.step()).outcome?.because, 'gone');
  assert.deepEqual(waits(), []);
});
