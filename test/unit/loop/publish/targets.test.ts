// Targets: only with consent, only the named values keys, only what the Secret holds. A failing target delays nothing,
// and a target that is reverted three times is not written until its content changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError } from '../../../../src/wire/cluster-error.ts';
import { Simulation, type SimulationOptions } from '../../../simulation/simulation.ts';

const minuteMs = 60_000;
const theirs = { namespace: 'apps', name: 'docs-values' };
const before = '# ours\nreplicas: 2\nstaticExport:\n  enabled: false # not yet\n';
const consent = { 'staticexport.dev/allow-from': 'docs/site' };
const inConfigMap = {
  name: 'argo',
  type: 'Values',
  values: { kind: 'ConfigMap', namespace: 'apps', name: 'docs-values' },
};

async function publishedSimulation(
  spec: Record<string, unknown>,
  arrange: (simulation: Simulation) => void,
): Promise<Simulation> {
  const options: SimulationOptions = { spec };
  const simulation = new Simulation(options);
  arrange(simulation);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  return simulation;
}

function textIn(simulation: Simulation): string {
  return simulation.cluster.configMaps.get('apps/docs-values')?.data['values.yaml'] ?? '';
}

test('the version is written into the document, and comments and order are kept', async () => {
  const simulation = await publishedSimulation({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  assert.match(textIn(simulation), /^# ours\nreplicas: 2\nstaticExport:\n {2}enabled: true # not yet\n/);
  assert.ok(textIn(simulation).includes(simulation.output()?.['version'] ?? 'nothing'));
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

test('a refresh writes only targets that request the link', async () => {
  const withLink = {
    name: 'flux',
    type: 'Values',
    write: ['version', 'bundleUrl'],
    values: { kind: 'Secret', namespace: 'apps', name: 'docs-secret' },
  };
  const simulation = await publishedSimulation({ targets: [inConfigMap, withLink] }, (one) => {
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
    one.cluster.putSecret({ namespace: 'apps', name: 'docs-secret' }, { 'values.yaml': before });
    const secret = one.cluster.secrets.get('apps/docs-secret');
    assert.ok(secret);
    one.cluster.secrets.set('apps/docs-secret', {
      ...secret,
      metadata: { ...secret.metadata, annotations: consent },
    });
  });
  const text = textIn(simulation);
  await simulation.run(60 * minuteMs);
  assert.equal(textIn(simulation), text);
  const secret = new TextDecoder().decode(
    simulation.cluster.secrets.get('apps/docs-secret')?.data['values.yaml'],
  );
  assert.ok(secret.includes(simulation.output()?.['bundleUrl'] ?? 'nothing'), 'the Secret follows the link');
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

for (const [name, arrange] of [
  ['an object that does not exist', () => {}],
  [
    'an object that does not consent',
    (simulation: Simulation) => simulation.cluster.putConfigMap(theirs, { 'values.yaml': before }),
  ],
  [
    'an object that consents to another resource',
    (simulation: Simulation) =>
      simulation.cluster.putConfigMap(
        theirs,
        { 'values.yaml': before },
        { 'staticexport.dev/allow-from': 'docs/other' },
      ),
  ],
] as const) {
  test(`${name} reads as NotGranted, and does not unset Ready`, async () => {
    const simulation = await publishedSimulation({ targets: [inConfigMap] }, arrange);
    assert.equal(simulation.condition('TargetsSynced'), 'False/NotGranted');
    assert.equal(simulation.condition('Ready'), 'True/Published');
    const written = simulation.cluster.writes.filter(({ kind }) => kind === 'Document');
    assert.equal(written.length, 0);
    simulation.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
    await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 11 * minuteMs);
  });
}

test('a document that cannot be edited safely is refused and not changed', async () => {
  for (const text of ['- a list\n', 'a: 1\na: 2\n', 'staticExport: &x {}\nother: *x\n']) {
    const simulation = await publishedSimulation({ targets: [inConfigMap] }, (one) =>
      one.cluster.putConfigMap(theirs, { 'values.yaml': text }, consent),
    );
    assert.equal(simulation.condition('TargetsSynced'), 'False/Refused');
    assert.equal(textIn(simulation), text);
  }
});

test('three reverts within ten minutes are contested, until a new version', async () => {
  const simulation = await publishedSimulation({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  for (let revert = 0; revert < 3; revert += 1) {
    assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
    await simulation.clock.pass(minuteMs);
    simulation.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
    await simulation.step();
  }
  assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  const writes = simulation.cluster.writes.filter(({ kind }) => kind === 'Document').length;
  await simulation.run(60 * minuteMs);
  assert.equal(simulation.cluster.writes.filter(({ kind }) => kind === 'Document').length, writes);
  assert.equal(textIn(simulation), before);
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  simulation.annotate({ 'staticexport.dev/requestedAt': 'new' });
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced');
  assert.ok(textIn(simulation).includes(simulation.output()?.['version'] ?? 'nothing'));
});

test('a suspended resource writes no target', async () => {
  const simulation = await publishedSimulation({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  simulation.editSpec({ suspend: true });
  await simulation.step();
  simulation.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
  await simulation.run(30 * minuteMs);
  assert.equal(textIn(simulation), before);
});

test('rule 12: after a deletion of the resource its outputs are deleted, and targets keep their last value', async () => {
  const simulation = await publishedSimulation({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  const text = textIn(simulation);
  simulation.cluster.remove({ namespace: 'docs', name: 'site' });
  const { outcome } = await simulation.step();
  assert.equal(outcome?.because, 'gone');
  assert.equal(outcome?.wakeAfterMs, undefined);
  assert.equal(simulation.output(), undefined);
  assert.equal(textIn(simulation), text);
});

const inSecret = {
  name: 'argo',
  type: 'Values',
  write: ['version', 'bundleUrl'],
  values: { kind: 'Secret', namespace: 'apps', name: 'docs-secret' },
};

function putTheirSecret(simulation: Simulation, bytes: Uint8Array): void {
  simulation.cluster.putSecret({ namespace: 'apps', name: 'docs-secret' }, {});
  const secret = simulation.cluster.secrets.get('apps/docs-secret');
  assert.ok(secret);
  simulation.cluster.secrets.set('apps/docs-secret', {
    metadata: { ...secret.metadata, annotations: consent },
    data: { 'values.yaml': bytes },
  });
}

test('a Secret that is not UTF-8 text is refused, and no byte of it changes', async () => {
  const bytes = Uint8Array.from([
    ...new TextEncoder().encode('a: "'),
    0xff,
    ...new TextEncoder().encode('"\n'),
  ]);
  const simulation = await publishedSimulation({ targets: [inSecret] }, (one) => putTheirSecret(one, bytes));
  assert.equal(simulation.condition('TargetsSynced'), 'False/Refused');
  assert.match(simulation.status().targets?.[0]?.message ?? '', /^NotUtf8: /);
  assert.deepEqual(simulation.cluster.secrets.get('apps/docs-secret')?.data['values.yaml'], bytes);
});

test('a byte order mark survives the edit', async () => {
  const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('replicas: 2\n')]);
  const simulation = await publishedSimulation({ targets: [inSecret] }, (one) => putTheirSecret(one, bytes));
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  const after = simulation.cluster.secrets.get('apps/docs-secret')?.data['values.yaml'];
  assert.deepEqual(after?.slice(0, bytes.length), bytes);
});

test('an inherited property name is not a key of the document', async () => {
  const values = { ...inConfigMap.values, key: 'constructor' };
  const simulation = await publishedSimulation({ targets: [{ ...inConfigMap, values }] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent),
  );
  assert.equal(simulation.condition('TargetsSynced'), 'False/Refused');
  assert.equal(simulation.status().targets?.[0]?.message, 'NoSuchKey: it has no key constructor');
});

test('a missing consent is reported once with what it needs, and is noticed within a minute when given', async () => {
  const simulation = await publishedSimulation({ targets: [inConfigMap] }, (one) =>
    one.cluster.putConfigMap(theirs, { 'values.yaml': before }),
  );
  const message = simulation.status().conditions?.find(({ type }) => type === 'TargetsSynced')?.message ?? '';
  assert.match(
    message,
    /argo \(ConfigMap\/apps\/docs-values\/values\.yaml: needs the annotation staticexport\.dev\/allow-from: docs\/site\)/,
  );
  simulation.vendor.linkLifetimeMs = 48 * 60 * minuteMs;
  await simulation.run(20 * minuteMs);
  const writes = simulation.cluster.writes.length;
  await simulation.run(5 * 60 * minuteMs);
  assert.equal(simulation.cluster.writes.length, writes);
  simulation.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
  await simulation.run(61_000);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

test('a refused write is retried with a bounded back-off; a new spec or request ends the wait', async () => {
  let isRefusing = true;
  let tries = 0;
  const simulation = new Simulation({
    spec: { targets: [inConfigMap] },
    bend: (context, { cluster }) => ({
      ...context,
      cluster: {
        readStaticExport: (key, signal) => context.cluster.readStaticExport(key, signal),
        readSecret: (key, signal) => context.cluster.readSecret(key, signal),
        readConfigMap: (key, signal) => context.cluster.readConfigMap(key, signal),
        applySecret: (object, signal) => context.cluster.applySecret(object, signal),
        applyConfigMap: (object, signal) => context.cluster.applyConfigMap(object, signal),
        writeStatus: (object, next, signal) => context.cluster.writeStatus(object, next, signal),
        editDocument: (edit) => {
          tries += 1;
          if (isRefusing) throw new ClusterError('Unavailable', 'scripted');
          return cluster.editDocument(edit);
        },
      },
    }),
  });
  simulation.cluster.putConfigMap(theirs, { 'values.yaml': before }, consent);
  await simulation.until(() => simulation.condition('TargetsSynced') === 'False/WriteFailed');
  await simulation.run(10 * 60 * minuteMs);
  assert.ok(tries > 10 && tries <= 70, `${tries} tries in ten hours`);
  assert.equal(simulation.status().targets?.[0]?.failures, 6);
  for (const hurry of [
    () => simulation.editSpec({ historyLimit: 7 }),
    () => simulation.annotate({ 'staticexport.dev/requestedAt': 'now' }),
  ]) {
    await simulation.clock.pass(1000);
    const known = tries;
    hurry();
    await simulation.step();
    assert.equal(tries, known + 1);
    await simulation.step();
    assert.equal(tries, known + 1, 'once');
  }
  isRefusing = false;
  simulation.editSpec({ historyLimit: 8 });
  await simulation.step();
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

/** Targets in ConfigMaps, with consent. The calls of the Kubernetes API server for these objects take `readMs` and `writeMs`. */
async function slowTargets(
  names: readonly string[],
  delays: { readMs: number; writeMs: number },
): Promise<{ simulation: Simulation; writes: string[] }> {
  const writes: string[] = [];
  const simulation = new Simulation({
    spec: {
      targets: names.map((name) => ({
        name,
        type: 'Values',
        values: { kind: 'ConfigMap', namespace: 'apps', name },
      })),
    },
    bend: (context) => ({
      ...context,
      cluster: {
        ...context.cluster,
        readConfigMap: async (key, signal) => {
          if (key.namespace === 'apps') await context.clock.after(delays.readMs, signal);
          return context.cluster.readConfigMap(key, signal);
        },
        editDocument: async (edit, signal) => {
          writes.push(edit.key.name);
          if (edit.key.name !== 'contested') await context.clock.after(delays.writeMs, signal);
          return context.cluster.editDocument(edit, signal);
        },
      },
    }),
  });
  for (const name of names)
    simulation.cluster.putConfigMap({ namespace: 'apps', name }, { 'values.yaml': before }, consent);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  return { simulation, writes };
}

test('targets whose writes hang delay the status by two of them, and the others are written next', async () => {
  // An admission webhook that answers just in time.
  const delays = { readMs: 0, writeMs: 14_000 };
  const names = ['a', 'b', 'c', 'd'];
  const { simulation, writes } = await slowTargets(names, delays);
  const reasons = (): readonly string[] => (simulation.status().targets ?? []).map(({ reason }) => reason);
  assert.deepEqual(reasons(), ['Synced', 'Synced', 'Pending', 'Pending']);
  assert.equal(simulation.condition('Ready'), 'True/Published');
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', minuteMs);
  assert.equal(writes.length, names.length);
});

test('sixteen targets whose reads are slow all get a new version soon, although each reconcile reads only some', async () => {
  const names = Array.from({ length: 16 }, (_, at) => `t${at}`);
  const { simulation } = await slowTargets(names, { readMs: 2000, writeMs: 0 });
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 2 * minuteMs);
  simulation.vendor.contents.set('docs.example.com', { name: 'other', pages: 20 });
  simulation.annotate({ 'staticexport.dev/requestedAt': 'now' });
  const version = simulation.status().active?.version;
  await simulation.until(() => simulation.status().active?.version !== version, 5 * minuteMs);
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 2 * minuteMs);
});

test('a contested target behind slow ones is not written again', async () => {
  const delays = { readMs: 0, writeMs: 0 };
  const { simulation, writes } = await slowTargets(['a', 'b', 'contested'], delays);
  const revert = (name: string): void =>
    simulation.cluster.putConfigMap({ namespace: 'apps', name }, { 'values.yaml': before }, consent);
  for (let reverts = 0; reverts < 3; reverts += 1) {
    await simulation.clock.pass(minuteMs);
    revert('contested');
    await simulation.step();
  }
  const reasonOf = (name: string): string | undefined =>
    simulation.status().targets?.find((one) => one.name === name)?.reason;
  assert.equal(reasonOf('contested'), 'Contested');
  const count = writes.filter((name) => name === 'contested').length;
  delays.writeMs = 9000;
  revert('a');
  revert('b');
  await simulation.run(10 * minuteMs);
  assert.equal(reasonOf('contested'), 'Contested');
  assert.equal(writes.filter((name) => name === 'contested').length, count);
});
