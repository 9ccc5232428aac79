// HelmRelease, Application and Workload targets through the whole reconcile, with objects that have owners: what is
// written, when it counts as synced, and when the operator writes nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForeignKind } from '#platform/wire/cluster.ts';
import { Simulation } from '../../../../simulation/simulation.ts';

const minuteMs = 60_000;
const consent = { annotations: { 'staticexport.dev/allow-from': 'docs/site' } };
const key = { namespace: 'apps', name: 'docs' };
const flux = { name: 'flux', type: 'HelmRelease', helmRelease: key };
const argo = { name: 'argo', type: 'Application', application: key };
const pods = { name: 'pods', type: 'Workload', workload: { kind: 'Deployment', ...key } };
const chart = { repoURL: 'https://git.example.com/site.git', chart: 'site' };

async function published(target: object, arrange: (simulation: Simulation) => void): Promise<Simulation> {
  const simulation = new Simulation({ spec: { targets: [target] } });
  arrange(simulation);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  return simulation;
}

const stateOf = (simulation: Simulation) => simulation.status().targets?.[0];
const versionOf = (simulation: Simulation) => simulation.output()?.['version'];
const contentOf = (simulation: Simulation, kind: ForeignKind) =>
  JSON.stringify(simulation.cluster.objects.read(kind, key)?.content['spec']);

function rolledOut(simulation: Simulation): void {
  const observedGeneration = simulation.cluster.objects.read('HelmRelease', key)?.metadata.generation;
  simulation.cluster.objects.merge('HelmRelease', key, {
    status: {
      observedGeneration,
      conditions: [{ type: 'Ready', status: 'True', reason: 'UpgradeSucceeded' }],
    },
  });
}

test('a HelmRelease is rolling out until its controller reports the release', async () => {
  const simulation = await published(flux, ({ cluster }) =>
    cluster.objects.put('HelmRelease', key, { spec: { values: { replicas: 2 } } }, consent),
  );
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/RollingOut');
  assert.ok(contentOf(simulation, 'HelmRelease')?.includes(`"version":"${versionOf(simulation)}"`));
  assert.ok(contentOf(simulation, 'HelmRelease')?.includes('"replicas":2'));
  rolledOut(simulation);
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', minuteMs);
  assert.equal(stateOf(simulation)?.heldVersion, versionOf(simulation));
  assert.equal(simulation.cluster.objects.writes.length, 1);
});

test('a failed release is reported with its reason', async () => {
  const simulation = await published(flux, ({ cluster }) =>
    cluster.objects.put('HelmRelease', key, { spec: { values: {} } }, consent),
  );
  const observedGeneration = simulation.cluster.objects.read('HelmRelease', key)?.metadata.generation;
  const conditions = [{ type: 'Ready', status: 'False', reason: 'UpgradeFailed' }];
  simulation.cluster.objects.merge('HelmRelease', key, { status: { observedGeneration, conditions } });
  await simulation.until(() => simulation.condition('TargetsSynced') === 'False/RolloutFailed', minuteMs);
  assert.match(stateOf(simulation)?.message ?? '', /UpgradeFailed/);
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

test('under an owner that declares the key nothing is ever written, until the owner lets go', async () => {
  const declared = { spec: { values: { staticExport: { version: 'from-git' } } } };
  const simulation = await published(flux, ({ cluster }) =>
    cluster.objects.put('HelmRelease', key, declared, consent, 'kustomize-controller'),
  );
  assert.equal(simulation.condition('TargetsSynced'), 'False/OwnedElsewhere');
  assert.equal(stateOf(simulation)?.heldVersion, 'from-git');
  await simulation.run(60 * minuteMs);
  assert.equal(simulation.cluster.objects.writes.length, 0);
  simulation.cluster.objects.put(
    'HelmRelease',
    key,
    { spec: { values: {} } },
    consent,
    'kustomize-controller',
  );
  rolledOut(simulation);
  await simulation.until(() => versionOf(simulation) === stateOf(simulation)?.heldVersion, 5 * minuteMs);
});

test('a key that git dropped while both held it is let go and written again', async () => {
  const simulation = await published(flux, ({ cluster }) =>
    cluster.objects.put('HelmRelease', key, { spec: { values: {} } }, consent, 'kustomize-controller'),
  );
  const { objects } = simulation.cluster;
  const shared = { spec: { values: { staticExport: { version: versionOf(simulation) } } } };
  objects.put('HelmRelease', key, shared, consent, 'kustomize-controller');
  rolledOut(simulation);
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 5 * minuteMs);
  simulation.vendor.contents.set('docs.example.com', { name: 'new', pages: 20 });
  const before = versionOf(simulation);
  simulation.annotate({ 'staticexport.dev/requestedAt': 'now' });
  await simulation.until(() => versionOf(simulation) !== before, 60 * minuteMs);
  await simulation.run(3 * minuteMs);
  // The operator let go. The other manager now sees that its manifest lacks the key, and removes it.
  objects.put('HelmRelease', key, { spec: { values: {} } }, consent, 'kustomize-controller');
  rolledOut(simulation);
  await simulation.until(() => stateOf(simulation)?.heldVersion === versionOf(simulation), 5 * minuteMs);
});

for (const [target, kind] of [
  [flux, 'HelmRelease'],
  [argo, 'Application'],
  [pods, 'Deployment'],
] as const) {
  test(`a ${kind} without consent, and an absent one, are not written`, async () => {
    const simulation = await published(target, () => {});
    assert.equal(simulation.condition('TargetsSynced'), 'False/NotGranted');
    simulation.cluster.objects.put(kind, key, { spec: { source: chart } });
    await simulation.run(5 * minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'False/NotGranted');
    assert.equal(simulation.cluster.objects.writes.length, 0);
  });

  test(`a dry run shows the key of a ${kind}, and writes nothing`, async () => {
    const simulation = await published({ ...target, mode: 'DryRun' }, ({ cluster }) =>
      cluster.objects.put(kind, key, { spec: { source: chart } }, consent),
    );
    assert.equal(simulation.condition('TargetsSynced'), 'Unknown/DryRun');
    assert.equal(stateOf(simulation)?.changes?.[0]?.value, versionOf(simulation));
    assert.equal(simulation.cluster.objects.writes.length, 0);
  });

  test(`three reverts of a ${kind} within ten minutes are contested`, async () => {
    const own = { spec: { source: chart } };
    const simulation = await published(target, ({ cluster }) => cluster.objects.put(kind, key, own, consent));
    const { objects } = simulation.cluster;
    for (let revert = 0; revert < 3; revert += 1) {
      await simulation.clock.pass(minuteMs);
      objects.remove(kind, key);
      objects.put(kind, key, own, consent);
      await simulation.step();
    }
    assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
    const { length } = objects.writes;
    await simulation.run(120 * minuteMs);
    assert.equal(objects.writes.length, length);
  });
}

test('an Application without automated sync waits for a sync, and Request starts one', async () => {
  for (const sync of ['Never', 'Request'] as const) {
    const target = { ...argo, application: { ...key, sync } };
    const simulation = await published(target, ({ cluster }) =>
      cluster.objects.put('Application', key, { spec: { source: chart } }, consent),
    );
    const { objects } = simulation.cluster;
    const content = objects.read('Application', key)?.content;
    assert.equal(content?.['operation'] !== undefined, sync === 'Request');
    const spec = content?.['spec'];
    objects.merge('Application', key, {
      status: { sync: { status: 'OutOfSync', comparedTo: spec }, health: { status: 'Healthy' } },
    });
    await simulation.until(() => simulation.condition('TargetsSynced') === 'Unknown/AwaitingSync', minuteMs);
    objects.merge('Application', key, { status: { sync: { status: 'Synced' } } });
    await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 2 * minuteMs);
  }
});

test('a sync that failed is requested again after a back-off, one that runs is awaited, one that ended is enough', async () => {
  const target = { ...argo, application: { ...key, sync: 'Request' } };
  const simulation = await published(target, ({ cluster }) =>
    cluster.objects.put('Application', key, { spec: { source: chart } }, consent),
  );
  const { objects } = simulation.cluster;
  const spec = objects.read('Application', key)?.content['spec'];
  const operating = (phase: string): void => {
    objects.dropField('Application', key, 'operation');
    const sync = { status: 'OutOfSync', comparedTo: spec };
    objects.merge('Application', key, { status: { sync, operationState: { phase, syncResult: spec } } });
  };
  const requests = (): number => objects.writes.length;
  assert.equal(requests(), 1);
  operating('Running');
  await simulation.run(20 * minuteMs);
  assert.equal(requests(), 1);
  operating('Failed');
  await simulation.until(() => simulation.condition('TargetsSynced') === 'False/RolloutFailed', 2 * minuteMs);
  assert.equal(stateOf(simulation)?.failures, 1);
  await simulation.run(20_000);
  assert.equal(requests(), 1);
  await simulation.until(() => requests() === 2, minuteMs);
  await simulation.run(10 * minuteMs);
  assert.equal(requests(), 2, 'the request is not taken yet');
  operating('Failed');
  await simulation.until(() => stateOf(simulation)?.failures === 2, 2 * minuteMs);
  operating('Succeeded');
  await simulation.run(10 * minuteMs);
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingSync');
  assert.equal(requests(), 2);
});

test('a rollout whose begin is in no status is checked within a minute', async () => {
  let crashes = 0;
  const simulation = await published(flux, (own) => {
    own.cluster.objects.put('HelmRelease', key, { spec: { values: {} } }, consent);
    own.faults = {
      next: (call) => (call === 'objects.applyFields' && crashes++ === 0 ? 'crash-after' : 'none'),
    };
  });
  assert.equal(crashes, 1);
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/RollingOut');
  assert.equal(stateOf(simulation)?.writeTime, undefined);
  rolledOut(simulation);
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 2 * minuteMs);
});

test('the text of values of an Application is edited with its comments', async () => {
  const values = '# ours\nreplicas: 2\n';
  const spec = { source: { ...chart, helm: { values } } };
  const simulation = await published(argo, ({ cluster }) =>
    cluster.objects.put('Application', key, { spec }, consent, 'kubectl-edit'),
  );
  const text = `# ours\nreplicas: 2\nstaticExport:\n  version: "${versionOf(simulation)}"\n`;
  assert.equal(
    contentOf(simulation, 'Application'),
    JSON.stringify({ source: { ...chart, helm: { values: text } } }),
  );
  assert.ok(!contentOf(simulation, 'Application')?.includes('valuesObject'));
});

test('a paused Deployment is left alone until it resumes', async () => {
  const simulation = await published(pods, ({ cluster }) =>
    cluster.objects.put('Deployment', key, { spec: { paused: true } }, consent),
  );
  assert.equal(simulation.condition('TargetsSynced'), 'Unknown/Paused');
  assert.equal(simulation.cluster.objects.writes.length, 0);
  simulation.cluster.objects.put('Deployment', key, { spec: { paused: false } }, consent);
  await simulation.until(() => simulation.cluster.objects.writes.length === 1, 2 * minuteMs);
});

test('suspended, a target stays as it is', async () => {
  const simulation = await published(flux, ({ cluster }) =>
    cluster.objects.put('HelmRelease', key, { spec: { values: {} } }, consent),
  );
  simulation.editSpec({ suspend: true });
  simulation.cluster.objects.put('HelmRelease', key, { spec: { values: { a: 1 } } }, consent);
  const { length } = simulation.cluster.objects.writes;
  await simulation.run(30 * minuteMs);
  assert.equal(simulation.cluster.objects.writes.length, length);
});
