// The rules while the operator lacks permissions: unreadable objects are not guessed, refused writes are reported
// elsewhere, links still expire, and the resource recovers when the permission is granted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { hourMs, minuteMs, publishedSimulation, request } from './published-simulation.ts';
import { keySecret, outputName, resource, Simulation } from './simulation.ts';

const refuse = (what: string): Promise<never> =>
  Promise.reject(new ClusterError('Forbidden', `the operator's role does not allow ${what}; add the verb`));

/** Withdraws a permission; the result grants it again. */
function withoutRights(simulation: Simulation, taken: (cluster: Cluster) => Partial<Cluster>): () => void {
  const { bend } = simulation;
  simulation.bend = (context, own) => {
    const bent = bend(context, own);
    return { ...bent, cluster: { ...bent.cluster, ...taken(bent.cluster) } };
  };
  simulation.prompt();
  return () => {
    simulation.bend = bend;
  };
}

/** By default the permission for it is withdrawn. */
const withoutSecret = (simulation: Simulation, hidden = outputName, answer = refuse): (() => void) =>
  withoutRights(simulation, (cluster) => ({
    readSecret: (key, signal) =>
      key.name === hidden ? answer(`"get" on secrets "${key.name}"`) : cluster.readSecret(key, signal),
  }));

/** For example a Secret that the API server cannot decode, while other objects can be read. */
const fail = (what: string): Promise<never> =>
  Promise.reject(new ClusterError('Unavailable', `${what} answered 500 Internal Server Error`));

test('rule 11: a Secret that may not be read is not changed, and status says why and when its link expires', async () => {
  const simulation = await publishedSimulation();
  const version = simulation.status().active?.version;
  const [secret, calls] = [simulation.output(), simulation.vendor.calls.length];
  const giveBack = withoutSecret(simulation);
  await simulation.until(() => simulation.condition('Ready') === 'False/OutputUnreadable', minuteMs);
  assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'now');
  await simulation.run(hourMs);
  assert.equal(simulation.condition('LinkFresh'), 'False/Expired');
  assert.equal(simulation.condition('Stalled'), 'True/OutputUnreadable');
  assert.equal(simulation.vendor.calls.length, calls, 'something was asked for blindly');
  assert.deepEqual(simulation.output(), secret);
  assert.equal(simulation.status().active?.version, version, 'what was known is kept');
  const reported = simulation.events.filter(({ reason }) => reason === 'OutputUnreadable');
  assert.equal(reported.length, 1);
  assert.match(reported[0]?.message ?? '', /does not allow "get" on secrets "site-bundle"/);
  const writes = simulation.cluster.writes.length;
  await simulation.run(6 * hourMs);
  assert.equal(simulation.cluster.writes.length, writes, 'nothing changes while nothing can be known');
  giveBack();
  await simulation.until(() => simulation.isLinkValid(), 2 * minuteMs);
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', minuteMs);
  await simulation.until(() => simulation.status().active?.version !== version, hourMs);
});

test('rule 11: a new process trusts a refusal that status already reports', async () => {
  const simulation = await publishedSimulation();
  withoutSecret(simulation);
  await simulation.until(() => simulation.condition('Ready') === 'False/OutputUnreadable', minuteMs);
  simulation.restart();
  const { error } = await simulation.step();
  assert.equal(error, undefined);
});

/** No action is due during the moment. */
async function calmSimulation(): Promise<Simulation> {
  const simulation = new Simulation();
  simulation.vendor.linkLifetimeMs = 24 * hourMs;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  return simulation;
}

const moments = [
  { what: 'a refused output', hidden: outputName, answer: refuse, lengthMs: 5000 },
  { what: 'a refused key', hidden: keySecret.name, answer: refuse, lengthMs: 5000 },
  { what: 'an output behind an error', hidden: outputName, answer: fail, lengthMs: 9 * minuteMs },
  { what: 'a key behind an error', hidden: keySecret.name, answer: fail, lengthMs: 9 * minuteMs },
];

for (const { what, hidden, answer, lengthMs } of moments) {
  test(`rule 6: status does not report ${what} that lasts a moment`, async () => {
    const simulation = await calmSimulation();
    const [status, writes] = [simulation.status(), simulation.cluster.writes.length];
    const giveBack = withoutSecret(simulation, hidden, answer);
    await simulation.run(lengthMs, ({ error }) => assert.ok(error instanceof ClusterError));
    giveBack();
    await simulation.run(10 * minuteMs);
    assert.deepEqual(simulation.status(), status);
    assert.equal(simulation.cluster.writes.length, writes);
  });
}

test('rule 11: an output that stays unreadable is reported with its error, and recovers', async () => {
  const simulation = await publishedSimulation();
  const giveBack = withoutSecret(simulation, outputName, fail);
  await simulation.until(() => simulation.condition('Ready') === 'False/OutputUnreadable', 20 * minuteMs);
  const { message } = simulation.status().conditions?.find(({ type }) => type === 'Ready') ?? {};
  assert.match(message ?? '', /"get" on secrets "site-bundle" answered 500/);
  await simulation.run(hourMs);
  assert.equal(simulation.condition('LinkFresh'), 'False/Expired', 'judged by the clock');
  giveBack();
  await simulation.until(() => simulation.isLinkValid(), 2 * minuteMs);
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

for (const { answer, words } of [
  { answer: refuse, words: /does not allow "get" on secrets/ },
  { answer: fail, words: /"get" on secrets "[a-z-]+" answered 500/ },
]) {
  test(`rule 8: a key that stays unreadable is named (${words.source}), and the link’s expiry is reported`, async () => {
    const simulation = await publishedSimulation();
    request(simulation, 'now');
    const giveBack = withoutSecret(simulation, keySecret.name, answer);
    await simulation.until(() => simulation.condition('Exported') === 'False/KeyUnreadable', 20 * minuteMs);
    const reported = simulation.status().conditions?.find(({ type }) => type === 'Exported');
    assert.match(reported?.message ?? '', words);
    await simulation.run(hourMs);
    assert.equal(simulation.condition('LinkFresh'), 'False/Expired');
    assert.match(simulation.condition('Ready') ?? '', /^False/);
    giveBack();
    await simulation.until(() => simulation.isLinkValid(), 2 * minuteMs);
    await simulation.until(() => simulation.condition('Ready') === 'True/Published', hourMs);
  });
}

const pauses: readonly { what: string; pauseMs: number; between: () => Partial<Cluster> }[] = [
  {
    what: 'an hour of outage',
    pauseMs: hourMs,
    between: () => ({ readStaticExport: () => fail('"get" on staticexports') }),
  },
  { what: 'a successful read', pauseMs: 11 * minuteMs, between: () => ({}) },
];

for (const { what, pauseMs, between } of pauses) {
  test(`rule 6: two short refusals with ${what} between them are not one long refusal`, async () => {
    const simulation = await calmSimulation();
    const [status, writes] = [simulation.status(), simulation.cluster.writes.length];
    for (const _ of ['one', 'the other']) {
      const giveBack = withoutSecret(simulation, outputName, fail);
      assert.ok((await simulation.step()).error instanceof ClusterError);
      giveBack();
      const restore = withoutRights(simulation, between);
      await simulation.run(pauseMs);
      restore();
    }
    assert.deepEqual(simulation.status(), status);
    assert.equal(simulation.cluster.writes.length, writes);
  });
}

for (const suspend of [false, true]) {
  test(`rule 10: an unreadable key fails no reconcile while nothing is due (suspended: ${suspend})`, async () => {
    const simulation = await calmSimulation();
    simulation.editSpec({ suspend });
    await simulation.run(minuteMs);
    withoutSecret(simulation, keySecret.name, fail);
    await simulation.run(2 * hourMs);
    let checks = 0;
    await simulation.run(6 * hourMs, ({ error }) => {
      checks += 1;
      assert.equal(error, undefined);
    });
    assert.ok(checks >= 6);
  });
}

const unanswered: readonly {
  what: string;
  taken: (cluster: Cluster) => Partial<Cluster>;
  isKept: boolean;
}[] = [
  {
    what: 'a ConfigMap',
    taken: () => ({ readConfigMap: (key) => fail(`"get" on configmaps "${key.name}"`) }),
    isKept: true,
  },
  {
    what: 'an output',
    taken: ({ readSecret }) => ({
      readSecret: (key, signal) =>
        key.name === outputName ? fail(`"get" on secrets "${key.name}"`) : readSecret(key, signal),
    }),
    isKept: false,
  },
];

for (const { what, taken, isKept } of unanswered) {
  test(`rule 1: ${what} behind an error is waited for no longer than a link of 15 minutes permits`, async () => {
    const simulation = await publishedSimulation();
    await simulation.run(
      Date.parse(simulation.status().nextRefreshTime ?? '') - simulation.clock.now() - minuteMs,
    );
    withoutRights(simulation, taken);
    await simulation.run(hourMs, () => {
      assert.ok(simulation.isLinkValid() || !isKept, 'the link could be refreshed, and expired');
      assert.ok(
        simulation.isLinkValid() || simulation.condition('LinkFresh') === 'False/Expired',
        'an expired link is reported as fresh',
      );
    });
  });
}

test('rule 6: a refusal taken from status is remembered when status reports something else (seed 753)', async () => {
  const simulation = await calmSimulation();
  request(simulation, 'now');
  withoutSecret(simulation, keySecret.name, fail);
  await simulation.until(() => simulation.condition('Exported') === 'False/KeyUnreadable', 20 * minuteMs);
  simulation.restart();
  await simulation.run(minuteMs, ({ error }) => assert.equal(error, undefined));
  simulation.editSpec({
    api: { baseUrl: 'https://elsewhere.example.com', keySecretRef: { name: keySecret.name } },
  });
  simulation.prompt();
  await simulation.run(5 * minuteMs, ({ error }) => assert.equal(error, undefined));
  assert.equal(simulation.condition('Exported'), 'False/HostNotAllowed');
});

test('rule 6: a publication missing from status that cannot be confirmed is reported when that lasts', async () => {
  const simulation = await publishedSimulation();
  const { active } = simulation.status();
  const object = simulation.object();
  assert.ok(object);
  // The status write after the last publication was lost, and the permission to patch Secrets is withdrawn.
  const behind = {
    ...simulation.status(),
    active: { ...active, version: '20250101-000000-aaaaaaaa', jobId: 'se_before' },
  };
  simulation.cluster.exports.set(`${resource.namespace}/${resource.name}`, { ...object, status: behind });
  const giveBack = withoutRights(simulation, () => ({
    applySecret: () => refuse('"patch" on secrets "site-bundle"'),
  }));
  await simulation.until(() => simulation.condition('Ready') === 'False/OutputUnreadable', minuteMs);
  const { message } = simulation.status().conditions?.find(({ type }) => type === 'Ready') ?? {};
  assert.match(message ?? '', /does not allow "patch" on secrets/);
  await simulation.run(hourMs);
  assert.equal(simulation.condition('LinkFresh'), 'False/Expired', 'judged by the clock');
  giveBack();
  await simulation.until(() => simulation.isLinkValid(), 2 * minuteMs);
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(simulation.status().active?.version, active?.version, 'the Secret is believed again');
});

test('rule 4: while a ConfigMap may not be read, promotions wait and the link is refreshed', async () => {
  const simulation = await publishedSimulation();
  const version = simulation.status().active?.version;
  const giveBack = withoutRights(simulation, () => ({
    readConfigMap: (key) => refuse(`"get" on configmaps "${key.name}"`),
  }));
  await simulation.until(() => simulation.condition('Stalled') === 'True/OutputUnreadable', minuteMs);
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'now');
  await simulation.run(6 * hourMs, () => assert.ok(simulation.isLinkValid()));
  assert.equal(simulation.condition('LinkFresh'), 'True/Fresh');
  assert.equal(simulation.output()?.['version'], version);
  // A Secret that is deleted meanwhile is created again.
  simulation.cluster.secrets.delete(`${resource.namespace}/${outputName}`);
  await simulation.until(() => simulation.isLinkValid(), 2 * minuteMs);
  assert.equal(simulation.output()?.['version'], version);
  giveBack();
  await simulation.until(() => simulation.output()?.['version'] !== version, hourMs);
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

test('rule 1: when status may not be written the link is refreshed, and an event names the cause', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.linkLifetimeMs = hourMs;
  await simulation.run(hourMs);
  const before = simulation.status();
  const giveBack = withoutRights(simulation, () => ({
    writeStatus: () => refuse('"patch" on staticexports/status "site"'),
  }));
  await simulation.run(6 * hourMs, () => assert.ok(simulation.isLinkValid()));
  assert.deepEqual(simulation.status(), before);
  const reported = simulation.events.filter(({ reason }) => reason === 'StatusWriteFailed');
  assert.ok(reported.length > 0);
  assert.equal(new Set(reported.map(({ message }) => message)).size, 1, 'repeats are counted into one');
  giveBack();
  await simulation.until(
    () => simulation.status().active?.linkExpirationTime !== before.active?.linkExpirationTime,
    hourMs,
  );
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(simulation.vendor.jobs.size, 1);
});
