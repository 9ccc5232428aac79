// Targets: only with consent, only documents that can be edited safely. A failing target delays nothing, and a target
// that is reverted three times is not written until its content changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '../../../../simulation/fake-cluster.ts';
import { Simulation, type SimulationOptions } from '../../../../simulation/simulation.ts';
import { openRecorded } from '../recorded-simulation.ts';

const minuteMs = 60_000;
const before = '# ours\nreplicas: 2\nstaticExport:\n  enabled: false # not yet\n';
const consent = { 'staticexport.dev/allow-from': 'docs/site' };
const theirs = { namespace: 'apps', name: 'docs-values' };
const values = { kind: 'ConfigMap', ...theirs };
const spec = { targets: [{ name: 'argo', type: 'Values', values }] };

const put = ({ cluster }: Simulation, annotations = consent, text = before): void =>
  cluster.putConfigMap(theirs, { 'values.yaml': text }, annotations);
const textIn = ({ cluster }: Simulation): string =>
  cluster.configMaps.get('apps/docs-values')?.data['values.yaml'] ?? '';
const writesIn = ({ cluster }: Simulation): number =>
  cluster.writes.filter(({ kind }) => kind === 'Document').length;

async function openPublished(
  arrange: (simulation: Simulation) => void = put,
  options: SimulationOptions = { spec },
): Promise<Simulation> {
  const simulation = new Simulation(options);
  arrange(simulation);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  return simulation;
}

const ungranted: Readonly<Record<string, (simulation: Simulation) => void>> = {
  'an object that does not exist': () => {},
  'an object that does not consent': ({ cluster }) => cluster.putConfigMap(theirs, { 'values.yaml': before }),
  'an object that consents to another resource': (simulation) =>
    put(simulation, { 'staticexport.dev/allow-from': 'docs/other' }),
};
for (const [name, arrange] of Object.entries(ungranted)) {
  test(`${name} reads as NotGranted, and does not unset Ready`, async () => {
    const simulation = await openPublished(arrange);
    assert.equal(simulation.condition('TargetsSynced'), 'False/NotGranted');
    assert.equal(simulation.condition('Ready'), 'True/Published');
    assert.equal(writesIn(simulation), 0);
    put(simulation);
    await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 11 * minuteMs);
  });
}

test('a missing consent is reported once with what it needs, and is noticed within a minute when given', async () => {
  const simulation = await openPublished(ungranted['an object that does not consent']);
  const { message = '' } = simulation.status().conditions?.find(({ type }) => type === 'TargetsSynced') ?? {};
  assert.match(
    message,
    /argo \(ConfigMap\/apps\/docs-values\/values\.yaml: needs the annotation staticexport\.dev\/allow-from: docs\/site\)/,
  );
  simulation.vendor.linkLifetimeMs = 48 * 60 * minuteMs;
  await simulation.run(20 * minuteMs);
  const writes = simulation.cluster.writes.length;
  await simulation.run(5 * 60 * minuteMs);
  assert.equal(simulation.cluster.writes.length, writes);
  put(simulation);
  await simulation.run(61_000);
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

for (const text of ['- a list\n', 'a: 1\na: 2\n', 'staticExport: &x {}\nother: *x\n']) {
  test(`the document ${JSON.stringify(text)}, which cannot be edited safely, is refused and not changed`, async () => {
    const simulation = await openPublished((one) => put(one, consent, text));
    assert.equal(simulation.condition('TargetsSynced'), 'False/Refused');
    assert.equal(textIn(simulation), text);
  });
}

test('a Secret that is not UTF-8 text is refused, and no byte of it changes; a byte order mark survives', async () => {
  const inSecret = { targets: [{ ...spec.targets[0], values: { ...values, kind: 'Secret' } }] };
  const open = (bytes: Uint8Array): Promise<Simulation> =>
    openPublished(
      ({ cluster }) => {
        cluster.putSecret(theirs, {}, consent);
        const secret = cluster.secrets.get('apps/docs-values') ?? assert.fail();
        cluster.secrets.set('apps/docs-values', { ...secret, data: { 'values.yaml': bytes } });
      },
      { spec: inSecret },
    );
  const bytesIn = ({ cluster }: Simulation) => cluster.secrets.get('apps/docs-values')?.data['values.yaml'];
  const foreign = Uint8Array.from([0x61, 0x3a, 0x20, 0x22, 0xff, 0x22, 0x0a]);
  const refused = await open(foreign);
  assert.match(refused.status().targets?.[0]?.message ?? '', /^NotUtf8: /);
  assert.deepEqual(bytesIn(refused), foreign);
  const marked = encode({ text: '\uFEFFreplicas: 2\n' })['text'] ?? assert.fail();
  const edited = await open(marked);
  assert.equal(edited.condition('TargetsSynced'), 'True/Synced');
  assert.deepEqual(bytesIn(edited)?.slice(0, marked.length), marked);
});

test('an inherited property name is not a key of the document', async () => {
  const targets = [{ name: 'argo', type: 'Values', values: { ...values, key: 'constructor' } }];
  const simulation = await openPublished(put, { spec: { targets } });
  assert.equal(simulation.status().targets?.[0]?.message, 'NoSuchKey: it has no key constructor');
});

test('three reverts within ten minutes are contested, until a new version', async () => {
  const simulation = await openPublished();
  for (let revert = 0; revert < 3; revert += 1) {
    assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
    await simulation.clock.pass(minuteMs);
    put(simulation);
    await simulation.step();
  }
  assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  const writes = writesIn(simulation);
  await simulation.run(60 * minuteMs);
  assert.equal(writesIn(simulation), writes);
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  simulation.annotate({ 'staticexport.dev/requestedAt': 'new' });
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced');
});

test('a suspended resource writes no target, and after a deletion of the resource it keeps its last value', async () => {
  const simulation = await openPublished();
  simulation.editSpec({ suspend: true });
  await simulation.step();
  const text = textIn(simulation);
  put(simulation);
  await simulation.run(30 * minuteMs);
  assert.equal(textIn(simulation), before);
  simulation.editSpec({ suspend: false });
  await simulation.step();
  simulation.cluster.remove({ namespace: 'docs', name: 'site' });
  const { outcome } = await simulation.step();
  assert.deepEqual([outcome?.because, outcome?.wakeAfterMs], ['gone', undefined]);
  assert.deepEqual([simulation.output(), textIn(simulation)], [undefined, text]);
});

test('a refused write is retried with a bounded back-off; a new spec or request ends the wait', async () => {
  const recorded = openRecorded({ spec });
  const { simulation, calls } = recorded;
  put(simulation);
  recorded.refuse('editDocument docs-values', 'Unavailable');
  await simulation.until(() => simulation.condition('TargetsSynced') === 'False/WriteFailed');
  const attempts = (): number => calls.filter((call) => call === 'editDocument docs-values').length;
  await simulation.run(10 * 60 * minuteMs);
  assert.ok(attempts() > 10 && attempts() <= 70, `${attempts()} attempts in ten hours`);
  assert.equal(simulation.status().targets?.[0]?.failures, 6);
  for (const hurry of [
    () => simulation.editSpec({ historyLimit: 7 }),
    () => simulation.annotate({ 'staticexport.dev/requestedAt': 'now' }),
  ]) {
    await simulation.clock.pass(1000);
    const known = attempts();
    hurry();
    await simulation.step();
    await simulation.step();
    assert.equal(attempts(), known + 1, 'once');
  }
  recorded.before = () => {};
  simulation.editSpec({ historyLimit: 8 });
  await simulation.step();
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
});

/** Targets in ConfigMaps, with consent, whose reads and writes take so long. */
async function slowTargets(names: readonly string[], delays: { readMs: number; writeMs: number }) {
  const writes: string[] = [];
  const namesOf = (name: string) => ({ kind: 'ConfigMap', namespace: 'apps', name });
  const simulation = await openPublished(
    ({ cluster }) => {
      for (const name of names) cluster.putConfigMap(namesOf(name), { 'values.yaml': before }, consent);
    },
    {
      spec: { targets: names.map((name) => ({ name, type: 'Values', values: namesOf(name) })) },
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
    },
  );
  return { simulation, writes };
}

test('targets whose writes hang delay the status by two of them, and the others are written next', async () => {
  // An admission webhook that answers just in time.
  const names = ['a', 'b', 'c', 'd'];
  const { simulation, writes } = await slowTargets(names, { readMs: 0, writeMs: 14_000 });
  const reasons = (simulation.status().targets ?? []).map(({ reason }) => reason);
  assert.deepEqual(reasons, ['Synced', 'Synced', 'Pending', 'Pending']);
  assert.equal(simulation.condition('Ready'), 'True/Published');
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', minuteMs);
  assert.equal(writes.length, names.length);
});

test('sixteen targets whose reads are slow are all written soon, although each reconcile reads only some', async () => {
  const names = Array.from({ length: 16 }, (_, at) => `t${at}`);
  const { simulation } = await slowTargets(names, { readMs: 2000, writeMs: 0 });
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
  const reason = () => simulation.status().targets?.find(({ name }) => name === 'contested')?.reason;
  assert.equal(reason(), 'Contested');
  const count = writes.filter((name) => name === 'contested').length;
  delays.writeMs = 9000;
  revert('a');
  revert('b');
  await simulation.run(10 * minuteMs);
  assert.equal(reason(), 'Contested');
  assert.equal(writes.filter((name) => name === 'contested').length, count);
});
