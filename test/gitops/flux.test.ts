// The `HelmRelease` target with Flux's real kustomize-controller: who owns the key in each case, line by line, and the
// values that a release would get. helm-controller cannot be built here: its own values library prints them, and helm
// installs them.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { findClusterTools } from '../support/cluster-tools.ts';
import { runCommand } from '../support/command.ts';
import { eventuallyInCluster, slowClusterTimeoutMs } from '../support/eventually.ts';
import { applyDefinitions } from '../support/gitops/definitions.ts';
import { helmValues } from '../support/gitops/helm-values.ts';
import {
  type KustomizeController,
  startKustomizeController,
} from '../support/gitops/kustomize-controller.ts';
import { type PlayedSource, playSource } from '../support/gitops/played-source.ts';
import { noGitOps } from '../support/gitops/programs.ts';
import { consent, type OperatorWorld, startOperatorWorld } from './operator-world.ts';
import { siteChart } from './site-chart.ts';

const docs = 'docs';
const kind = 'helmreleases.helm.toolkit.fluxcd.io';
const names = ['undeclared', 'declared', 'later', 'shared', 'ignored', 'absent', 'joined'];

suite('the HelmRelease target with kustomize-controller', { skip: noGitOps }, () => {
  let world: OperatorWorld;
  let flux: KustomizeController;
  const sources = new Map<string, PlayedSource>();

  before(async () => {
    world = await startOperatorWorld({
      namespaces: [docs],
      targets: { helmReleases: [{ namespace: docs, names }] },
      applyDefinitions: (controlPlane) => applyDefinitions(controlPlane, 'flux'),
    });
    flux = await startKustomizeController(world.cluster.controlPlane);
  });
  after(async () => {
    await flux?.stop();
    for (const source of sources.values()) await source.close();
    await world?.stop();
  });

  const release = (name: string, values: object, more: object = {}) => ({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name, namespace: docs, annotations: consent(name) },
    spec: { interval: '5m', chartRef: { kind: 'OCIRepository', name: 'site' }, values, ...more },
  });
  const kustomization = (name: string, more: object = {}) => ({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name, namespace: docs },
    spec: {
      interval: '2s',
      path: './',
      prune: true,
      sourceRef: { kind: 'GitRepository', name },
      ...more,
    },
  });
  /** Git holds this HelmRelease from now on. */
  const commit = async (name: string, values: object): Promise<void> => {
    const source =
      sources.get(name) ?? (await playSource(world.cluster.controlPlane, { namespace: docs, name }));
    const isNew = !sources.has(name);
    sources.set(name, source);
    const revision = await source.publish({ 'release.yaml': stringify(release(name, values)) });
    if (isNew) await world.cluster.apply(kustomization(name));
    await awaitApplied(name, revision);
  };
  const awaitApplied = (name: string, revision: string): Promise<true> =>
    eventuallyInCluster(`${revision} applied`, async () => {
      const { status } = await world.get('kustomization', docs, name);
      return status?.lastAppliedRevision === revision || undefined;
    });
  /** Flux applies again and again; resolves after `count` more times. */
  const awaitIntervals = async (name: string, count: number): Promise<void> => {
    const total = async (): Promise<number> => {
      const { status } = await world.get('kustomization', docs, name);
      return status?.history?.[0]?.totalReconciliations ?? 0;
    };
    const first = await total();
    await eventuallyInCluster('more intervals', async () => (await total()) >= first + count || undefined, {
      timeoutMs: 300_000,
    });
  };
  const read = (name: string) => world.get(kind, docs, name);
  const versionIn = async (name: string): Promise<unknown> =>
    (await read(name)).spec.values.staticExport?.version;
  const ownersIn = async (name: string): Promise<readonly string[]> => {
    const { metadata } = await read(name);
    return metadata.managedFields
      .filter((entry: { readonly fieldsV1?: Readonly<Record<string, unknown>> }) =>
        // biome-ignore format: one path
        JSON.stringify(entry.fieldsV1 ?? {}).includes('"f:version"'),
      )
      .map((entry: { readonly manager: string }) => entry.manager);
  };
  const toRelease = (name: string, more: object = {}) =>
    world.create(name, { type: 'HelmRelease', helmRelease: { namespace: docs, name }, ...more });
  const awaitVersion = (name: string, version: string, timeoutMs = slowClusterTimeoutMs): Promise<true> =>
    eventuallyInCluster(
      `${version} in ${name}`,
      async () => (await versionIn(name)) === version || undefined,
      {
        timeoutMs,
      },
    );

  test('a key that git does not declare is ours, and stays over ten intervals', async () => {
    await commit('undeclared', { replicas: 2 });
    await toRelease('undeclared');
    const version = await world.activeVersion('undeclared');
    await awaitVersion('undeclared', version);
    await awaitIntervals('undeclared', 10);
    assert.equal(await versionIn('undeclared'), version);
    assert.deepEqual(await ownersIn('undeclared'), ['static-export-operator']);
    await world.reader.awaitCondition('undeclared', 'TargetsSynced', 'Unknown', 'RollingOut');
  });

  test('a key that git declares is not written, and the message has the remedies', async () => {
    const values = { replicas: 2, staticExport: { version: 'from-git' } };
    await commit('declared', values);
    await toRelease('declared');
    const found = await world.reader.awaitCondition('declared', 'TargetsSynced', 'False', 'OwnedElsewhere');
    const { generation } = (await read('declared')).metadata;
    await awaitIntervals('declared', 5);
    await world.publishNext('declared');
    await world.reader.awaitCondition('declared', 'TargetsSynced', 'False', 'OwnedElsewhere');
    assert.equal((await read('declared')).metadata.generation, generation);
    assert.equal(await versionIn('declared'), 'from-git');
    assert.match(
      found.message,
      /kustomize-controller owns the keys; remove spec\.values\.staticExport\.version from git\. Or add to/,
    );
  });

  test('a key that git begins to declare is taken from us, and we do not take it back', async () => {
    await commit('later', { replicas: 2 });
    await toRelease('later');
    await awaitVersion('later', await world.activeVersion('later'));
    await commit('later', { replicas: 2, staticExport: { version: 'from-git' } });
    await world.reader.awaitCondition('later', 'TargetsSynced', 'False', 'OwnedElsewhere', 300_000);
    await world.publishNext('later');
    await world.reader.awaitCondition('later', 'TargetsSynced', 'False', 'OwnedElsewhere');
    await awaitIntervals('later', 3);
    assert.equal(await versionIn('later'), 'from-git');
  });

  test('a key that both hold and git drops is let go, and written again', async () => {
    await world.create('shared', undefined);
    const version = await world.activeVersion('shared');
    await commit('shared', { replicas: 2, staticExport: { version } });
    // The digest is missing, so both keys are applied, one of them with the value that git declares.
    await toRelease('shared', { write: ['version', 'digest'] });
    await eventuallyInCluster('two owners', async () => (await ownersIn('shared')).length === 2 || undefined);
    await commit('shared', { replicas: 2 });
    await awaitIntervals('shared', 2);
    assert.equal((await ownersIn('shared')).length, 2, 'Flux keeps what it does not declare any more');
    await awaitVersion('shared', await world.publishNext('shared'), 300_000);
    await awaitIntervals('shared', 3);
    assert.equal(await versionIn('shared'), await world.activeVersion('shared'));
    assert.deepEqual(await ownersIn('shared'), ['static-export-operator']);
  });

  test('the ignore and the hand-over of the message leave a declared key to us', async () => {
    await commit('ignored', { replicas: 2, staticExport: { version: 'from-git' } });
    await toRelease('ignored');
    const found = await world.reader.awaitCondition('ignored', 'TargetsSynced', 'False', 'OwnedElsewhere');
    const [, ignore = '', command = ''] =
      /add to Kustomization docs\/ignored: spec: (\{.*\}) and, once Flux has applied that, hand over once: (.*)\)$/.exec(
        found.message,
      ) ?? [];
    await world.cluster.apply(kustomization('ignored', parse(ignore)));
    // A reconcile that began before applies the value of git once more, and takes the key back.
    await awaitIntervals('ignored', 2);
    const { kubectl } = await findClusterTools();
    const handed = await runCommand(['sh', '-c', command], {
      env: {
        KUBECONFIG: world.cluster.controlPlane.kubeconfig,
        PATH: `${dirname(kubectl)}:${process.env['PATH'] ?? ''}`,
      },
    });
    assert.equal(handed.code, 0, handed.stderr);
    await world.reader.awaitCondition('ignored', 'TargetsSynced', 'Unknown', 'RollingOut');
    const version = await world.publishNext('ignored');
    await awaitVersion('ignored', version);
    // Another key differs in git, so that Flux applies the object again.
    await commit('ignored', { replicas: 5, staticExport: { version: 'from-git' } });
    await eventuallyInCluster(
      'the other key',
      async () => (await read('ignored')).spec.values.replicas === 5 || undefined,
    );
    await awaitIntervals('ignored', 10);
    assert.equal(await versionIn('ignored'), version);
  });

  test('an absent HelmRelease is never created', async () => {
    await toRelease('absent');
    await world.reader.awaitCondition('absent', 'TargetsSynced', 'False', 'NotGranted');
    await world.publishNext('absent');
    const { stdout } = await world.cluster.kubectl(['get', kind, '-n', docs, '-o', 'name']);
    assert.ok(!stdout.includes('/absent'), stdout);
  });

  test('the values that Flux would release are the ones that we wrote, and helm upgrades to them', async () => {
    const { controlPlane, apply } = world.cluster;
    await apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'base', namespace: docs },
      data: { 'values.yaml': 'replicas: 1\nstaticExport: {version: from-the-map}\n' },
    });
    const valuesFrom = [{ kind: 'ConfigMap', name: 'base' }];
    await apply(release('joined', { replicas: 4 }, { valuesFrom }));
    await toRelease('joined');
    const version = await world.activeVersion('joined');
    await awaitVersion('joined', version);
    const chart = join(controlPlane.folder, 'joined');
    for (const [path, text] of Object.entries(siteChart('chart'))) {
      await mkdir(dirname(join(chart, path)), { recursive: true });
      await writeFile(join(chart, path), text);
    }
    for (const next of [async () => version, () => world.publishNext('joined')]) {
      const expected = await next();
      await awaitVersion('joined', expected);
      const values = await helmValues(controlPlane, docs, 'joined');
      assert.deepEqual(values, { replicas: 4, staticExport: { version: expected } });
      const args = [
        'upgrade',
        '--install',
        'joined',
        join(chart, 'chart'),
        `--namespace=${docs}`,
        '--values=-',
      ];
      const upgraded = await controlPlane.helm(args, { input: JSON.stringify(values) });
      assert.equal(upgraded.code, 0, upgraded.stderr);
      const { data } = await world.get('configmap', docs, 'joined');
      assert.equal(data.version, expected);
      assert.equal(JSON.parse(data.values).replicas, 4);
    }
  });

  test('no HelmRelease, event or line of the log holds a key or a link', () =>
    world.assertNothingLeaks(kind, 'configmaps'));
});
