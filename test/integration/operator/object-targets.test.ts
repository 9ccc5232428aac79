// HelmRelease, Application and Workload targets on a real API server, with exactly the chart's permissions: fields and
// their managers, refusals, and what status says. Their controllers are played: statuses are written by the test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeText } from '../../support/secret-watch.ts';
import { startEnvironment } from './operator-environment.ts';
import { openDefinition } from './resources.ts';

const namespace = 'object-targets';

const apps = 'object-targets-apps';
const consent = (name: string) => ({ 'staticexport.dev/allow-from': `${namespace}/${name}` });

const helmRelease = (name: string, values: object) => ({
  apiVersion: 'helm.toolkit.fluxcd.io/v2',
  kind: 'HelmRelease',
  metadata: { name, namespace: apps, annotations: consent(name) },
  spec: { interval: '5m', values },
});
const application = (name: string, spec: object) => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name, namespace: apps, annotations: consent(name) },
  spec: { project: 'default', ...spec },
});
const container = { name: 'web', image: 'example.com/web:1' };
const deployment = (name: string, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: apps, annotations: consent(name) },
  spec: {
    ...spec,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
  },
});
const repoURL = 'https://git.example.com/site.git';

const staticExport = (name: string, target: object) =>
  exportOf(name, { targets: [{ name: 'target', ...target }] });
const toRelease = (name: string, more: object = {}) =>
  staticExport(name, { type: 'HelmRelease', helmRelease: { namespace: apps, name }, ...more });
const toApplication = (name: string) =>
  staticExport(name, { type: 'Application', application: { namespace: apps, name } });
const toDeployment = (name: string) =>
  staticExport(name, { type: 'Workload', workload: { kind: 'Deployment', namespace: apps, name } });

const {
  world: cluster,
  reader,
  staticExport: exportOf,
  start,
} = await startEnvironment({
  namespaces: [namespace, apps],
  watchNamespaces: [namespace],
  isFast: true,
  targets: {
    helmReleases: [{ namespace: apps, names: ['released', 'declared', 'tried', 'listed'] }],
    applications: [{ namespace: apps, names: ['single', 'several'] }],
    workloads: [{ namespace: apps, deployments: ['pods'] }],
  },
});
await cluster.apply(
  openDefinition('helm.toolkit.fluxcd.io', 'v2', 'HelmRelease'),
  openDefinition('argoproj.io', 'v1alpha1', 'Application', false),
);
await cluster.controlPlane.awaitDefinitions();
await cluster.apply(
  helmRelease('released', { replicas: 2 }),
  helmRelease('tried', { replicas: 2 }),
  helmRelease('hidden', { replicas: 2 }),
  helmRelease('listed', { staticExport: ['a', 'b'] }),
  application('single', { source: { repoURL, path: 'chart', helm: { values: '# ours\nreplicas: 2\n' } } }),
  application('several', {
    sources: [
      { repoURL, ref: 'values' },
      { repoURL, chart: 'docs', helm: {} },
    ],
  }),
  deployment('pods', { replicas: 1 }),
);
const declared = helmRelease('declared', { staticExport: { version: 'from-git' } });
await cluster.api.apply([declared], 'kustomize-controller');
await cluster.apply(
  toRelease('released'),
  toRelease('declared'),
  toRelease('tried', { mode: 'DryRun', write: ['version', 'digest'] }),
  toRelease('hidden'),
  toRelease('listed'),
  toApplication('single'),
  toApplication('several'),
  toDeployment('pods'),
);
await start(['--request-timeout=5s']);

async function get(kind: string, name: string) {
  return cluster.api.read(kind, name, apps);
}

async function targetOf(name: string) {
  return (await reader.read('sx', name)).status;
}

async function play(kind: string, name: string, status: object): Promise<void> {
  // The definition of an Application has no subresource.
  const subresource = kind === 'application' ? {} : { subresource: 'status' };
  await cluster.api.patch(kind, name, { status }, { namespace: apps, ...subresource });
}

test('a HelmRelease gets the version by an apply of one key, and is followed until it is released', async () => {
  await reader.awaitCondition('released', 'TargetsSynced', 'Unknown', 'RollingOut');
  const object = await get('helmrelease', 'released');
  const { active, targets } = await targetOf('released');
  assert.deepEqual(object.spec.values, { replicas: 2, staticExport: { version: active.version } });
  const own = object.metadata.managedFields.filter(
    (entry: { readonly manager: string }) => entry.manager === 'static-export-operator',
  );
  assert.equal(own.length, 1);
  assert.equal(own[0].operation, 'Apply');
  const group = { '.': {}, 'f:version': {} };
  assert.deepEqual(own[0].fieldsV1, {
    'f:spec': { '.': {}, 'f:values': { '.': {}, 'f:staticExport': group } },
  });
  assert.equal(targets[0].type, 'HelmRelease');
  await play('helmrelease', 'released', {
    observedGeneration: object.metadata.generation,
    conditions: [{ type: 'Ready', status: 'True', reason: 'UpgradeSucceeded' }],
  });
  await reader.awaitCondition('released', 'TargetsSynced', 'True', 'Synced');
  const { metadata } = await get('helmrelease', 'released');
  await play('helmrelease', 'released', {
    conditions: [{ type: 'Ready', status: 'False', reason: 'UpgradeFailed' }],
  });
  await reader.awaitCondition('released', 'TargetsSynced', 'False', 'RolloutFailed');
  assert.equal(metadata.generation, object.metadata.generation, 'it is written once');
});

test('a key that kustomize-controller applies is not written, and the condition names the manager', async () => {
  const found = await reader.awaitCondition('declared', 'TargetsSynced', 'False', 'OwnedElsewhere');
  assert.match(
    found.message,
    /kustomize-controller owns the keys; remove spec\.values\.staticExport\.version/,
  );
  const { spec, metadata } = await get('helmrelease', 'declared');
  assert.equal(spec.values.staticExport.version, 'from-git');
  assert.equal(metadata.generation, 1);
});

test('a dry run names its keys and values, and writes nothing', async () => {
  await reader.awaitCondition('tried', 'TargetsSynced', 'Unknown', 'DryRun');
  const { active, targets } = await targetOf('tried');
  assert.deepEqual(targets[0].changes, [
    { key: 'staticExport.version', value: active.version },
    { key: 'staticExport.digest', value: active.digest },
  ]);
  assert.equal((await get('helmrelease', 'tried')).metadata.generation, 1);
});

test('a HelmRelease that the chart does not name is not readable, and reads as NotGranted', async () => {
  await reader.awaitCondition('hidden', 'TargetsSynced', 'False', 'NotGranted');
  assert.equal((await get('helmrelease', 'hidden')).metadata.generation, 1);
});

test('values that are a list are refused and not changed', async () => {
  const found = await reader.awaitCondition('listed', 'TargetsSynced', 'False', 'Refused');
  assert.match(found.message, /NotAMap: staticExport is not a map/);
  assert.deepEqual((await get('helmrelease', 'listed')).spec.values, { staticExport: ['a', 'b'] });
});

test('the text of an Application is edited, and the Application is followed until it is synced', async () => {
  await reader.awaitCondition('single', 'TargetsSynced', 'Unknown', 'RollingOut');
  const { active } = await targetOf('single');
  const { spec } = await get('application', 'single');
  const values = `# ours\nreplicas: 2\nstaticExport:\n  version: "${active.version}"\n`;
  assert.deepEqual(spec.source, { repoURL, path: 'chart', helm: { values } });
  const health = { status: 'Healthy' };
  const comparedTo = { source: spec.source };
  await play('application', 'single', { sync: { status: 'OutOfSync', comparedTo }, health });
  await reader.awaitCondition('single', 'TargetsSynced', 'Unknown', 'AwaitingSync', 150_000);
  await play('application', 'single', { sync: { status: 'Synced', comparedTo }, health });
  await reader.awaitCondition('single', 'TargetsSynced', 'True', 'Synced', 150_000);
});

test('the one source of several that renders gets the key', async () => {
  await reader.awaitCondition('several', 'TargetsSynced', 'Unknown', 'RollingOut');
  const { active } = await targetOf('several');
  const { spec } = await get('application', 'several');
  assert.deepEqual(spec.sources, [
    { repoURL, ref: 'values' },
    { repoURL, chart: 'docs', helm: { valuesObject: { staticExport: { version: active.version } } } },
  ]);
});

test('the pod template of a Deployment gets the version, and its rollout is followed', async () => {
  await reader.awaitCondition('pods', 'TargetsSynced', 'Unknown', 'RollingOut');
  const { active } = await targetOf('pods');
  const { spec, metadata } = await get('deployment', 'pods');
  assert.deepEqual(spec.template.metadata.annotations, { 'staticexport.dev/version': active.version });
  const { generation: observedGeneration } = metadata;
  const one = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  await play('deployment', 'pods', { observedGeneration, ...one });
  await reader.awaitCondition('pods', 'TargetsSynced', 'True', 'Synced', 150_000);
});

test('a deleted resource leaves the last values, and no target holds a link', async () => {
  await cluster.api.remove('sx', 'pods', namespace);
  const annotations = (await get('deployment', 'pods')).spec.template.metadata.annotations;
  assert.match(annotations['staticexport.dev/version'], /^\d{8}-\d{6}-[0-9a-f]{8}$/);
  for (const kind of ['helmrelease', 'application', 'deployment'])
    seeText(`${kind} of a target`, JSON.stringify(await cluster.api.list(kind, apps)));
});
