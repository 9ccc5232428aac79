// Every YAML file of docs/flux.md, applied by the real kustomize-controller as one repository: the order, the version in the
// site's values, a rollback, keys that git declares, and files that go. helm with Flux's own values library stands in for
// helm-controller, which cannot be built here.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parse, parseDocument, stringify } from 'yaml';
import { version } from '#platform/runtime/version.ts';
import { goodKey } from '../integration/operator/scripted-vendor.ts';
import { eventuallyInCluster } from '../support/eventually.ts';
import { applyDefinitions } from '../support/gitops/definitions.ts';
import { helmValues } from '../support/gitops/helm-values.ts';
import {
  type KustomizeController,
  startKustomizeController,
} from '../support/gitops/kustomize-controller.ts';
import { type PlayedSource, playSource } from '../support/gitops/played-source.ts';
import { noGitOps } from '../support/gitops/programs.ts';
import { type Page, readPage } from './page.ts';
import { type PageWorld, startPageWorld } from './page-world.ts';

const root = join(import.meta.dirname, '../..');
const system = 'flux-system';
const release = 'helmreleases.helm.toolkit.fluxcd.io';

suite('the repository of the page for Flux', { skip: noGitOps }, () => {
  let world: PageWorld;
  let page: Page;
  let flux: KustomizeController;
  let repository: PlayedSource;
  let files: Record<string, string>;

  before(async () => {
    world = await startPageWorld();
    page = readPage('flux', {
      'https://export.example.com': world.vendor.url,
      svc_REPLACE_ME: goodKey,
    });
    files = { ...page.files };
    await world.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: system } });
    await applyDefinitions(world.controlPlane, 'flux');
    flux = await startKustomizeController(world.controlPlane);
    repository = await playSource(world.controlPlane, { namespace: system, name: system });
    await repository.publish(files);
    // As `flux bootstrap git --path=clusters/production` writes it.
    await world.apply({
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: system, namespace: system },
      spec: {
        interval: '10m0s',
        path: './clusters/production',
        prune: true,
        sourceRef: { kind: 'GitRepository', name: system },
      },
    });
  });
  after(async () => {
    await flux?.stop();
    await repository?.close();
    await world?.stop();
  });

  const commit = async (changes: Readonly<Record<string, string | undefined>>): Promise<void> => {
    for (const [path, text] of Object.entries(changes)) {
      if (text === undefined) delete files[path];
      else files[path] = text;
    }
    const revision = await repository.publish(files);
    for (const name of [system, 'operator', 'docs-export', 'docs-site']) {
      await eventuallyInCluster(`${name} applied`, async () => {
        const { status } = await world.get('kustomization', system, name);
        return status.lastAppliedRevision === revision || undefined;
      });
    }
  };
  /** A file of the repository with one change. */
  const edited = (path: string, field: readonly string[], value: unknown): string => {
    const document = parseDocument(files[path] ?? '');
    if (value === undefined) document.deleteIn(field);
    else document.setIn(field, value);
    return String(document);
  };
  const awaitReady = (name: string): Promise<true> =>
    eventuallyInCluster(`Kustomization ${name}, ready`, async () => {
      const { status } = await world.get('kustomization', system, name);
      const isReady: boolean = status?.conditions?.some(
        ({ type, status }: { readonly type: string; readonly status: string }) =>
          type === 'Ready' && status === 'True',
      );
      if (isReady) return true as const;
      throw new Error(JSON.stringify(status));
    });
  /** Plays helm-controller: installs or upgrades with the values of Flux's library, and reports it. */
  const playRelease = async (namespace: string, name: string): Promise<void> => {
    const { metadata, spec } = await eventuallyInCluster(`HelmRelease ${name}`, () =>
      world.get(release, namespace, name),
    );
    const { chart, sourceRef } = spec.chart.spec;
    const source = await world.get('gitrepository', sourceRef.namespace, sourceRef.name);
    assert.equal(source.spec.ref.tag, `v${version}`);
    const values = await helmValues(world.controlPlane, namespace, name);
    const upgraded = await world.controlPlane.helm(
      ['upgrade', '--install', name, join(root, chart), `--namespace=${namespace}`, '--values=-'],
      { input: JSON.stringify(values) },
    );
    assert.equal(upgraded.code, 0, upgraded.stderr);
    await report(release, namespace, name, metadata.generation);
  };
  const report = async (kind: string, namespace: string, name: string, generation: number) => {
    const condition = {
      ...{ type: 'Ready', status: 'True', reason: 'Succeeded', message: 'played' },
      ...{ lastTransitionTime: '2026-11-24T00:00:00Z', observedGeneration: generation },
    };
    const status = { observedGeneration: generation, conditions: [condition] };
    await world.patch(kind, namespace, name, { status }, '--subresource=status');
  };
  const site = () => world.get(release, 'docs', 'docs');
  const awaitVersion = (version: string): Promise<true> =>
    eventuallyInCluster(
      `${version} in the HelmRelease`,
      async () => (await site()).spec.values.staticExport.version === version || undefined,
    );
  const awaitRolledOut = async (version: string): Promise<void> => {
    await awaitVersion(version);
    await playRelease('docs', 'docs');
    const { spec } = await world.get('deployment', 'docs', 'docs-static-export-site');
    assert.equal(spec.template.metadata.annotations['staticexport.dev/version'], version);
    await world.reader.awaitCondition('docs', 'TargetsSynced', 'True', 'Synced');
  };

  test('everything is applied in the order of dependsOn, and each Kustomization becomes ready', async () => {
    await eventuallyInCluster('the HelmRelease of the operator', () =>
      world.get(release, 'static-export', 'static-export-operator'),
    );
    await eventuallyInCluster('a waiting Kustomization', async () => {
      const { status } = await world.get('kustomization', system, 'docs-export');
      return JSON.stringify(status).includes('DependencyNotReady') || undefined;
    });
    const { stdout } = await world.kubectl(['get', 'crd', '-o', 'name']);
    assert.ok(!stdout.includes('staticexports'), 'the StaticExport cannot be there yet');
    await report('gitrepository', system, 'static-export', 1);
    await playRelease('static-export', 'static-export-operator');
    await world.startOperator();
    await awaitReady('operator');
    await awaitReady('docs-export');
    await awaitReady('docs-site');
    const { status } = await world.reader.read('sx', 'docs');
    assert.notEqual(status.active.version, undefined, 'ready with the first version, not before');
  });

  test('the version arrives in the values of the site, and a release with it restarts the pods', async () => {
    const version = await world.activeVersion();
    await awaitVersion(version);
    assert.equal((await site()).spec.values.staticExport.existingSecret, 'docs-bundle');
    await awaitRolledOut(version);
    const waits = page.commands.flatMap((block) =>
      block.split('\n').filter((line) => /^kubectl (wait|get s)/.test(line)),
    );
    assert.equal(waits.length, 3);
    const { code, stdout, stderr } = await world.runShell(waits.join('\n'));
    assert.equal(code, 0, stderr);
    assert.equal(stdout.match(/condition met/g)?.length, 2);
  });

  test('the next version arrives, and Flux keeps it when it applies the site again', async () => {
    const version = await world.publishNext();
    await awaitRolledOut(version);
    await commit({
      'docs-site/release.yaml': edited('docs-site/release.yaml', ['spec', 'values', 'server', 'replicas'], 3),
    });
    const { spec } = await site();
    assert.equal(spec.values.server.replicas, 3);
    assert.equal(spec.values.staticExport.version, version);
  });

  test('the command of the rollback prints what git gets, and git rolls back and goes on', async () => {
    const path = 'docs-export/static-export.yaml';
    const newest = await world.activeVersion();
    const { code, stdout } = await world.runCli('rollback', 'docs', '--namespace=docs');
    assert.equal(code, 10);
    const { pin } = parse(stdout).spec;
    assert.notEqual(pin.version, newest);
    await commit({ [path]: edited(path, ['spec', 'pin'], pin) });
    await awaitRolledOut(pin.version);
    await commit({ [path]: edited(path, ['spec', 'pin'], undefined) });
    await world.reader.awaitCondition('docs', 'Ready', 'True', 'Published');
    await awaitRolledOut(await world.publishNext());
  });

  test('a pin without git holds while Flux is suspended, and Flux removes it when it resumes', async () => {
    const { history } = (await world.reader.read('sx', 'docs')).status;
    const version: string = history[1].version;
    await world.patch('kustomization', system, 'docs-export', { spec: { suspend: true } });
    await world.patch('sx', 'docs', 'docs', { spec: { pin: { version } } });
    await awaitRolledOut(version);
    await world.patch('kustomization', system, 'docs-export', { spec: { suspend: false } });
    await eventuallyInCluster('a removed pin', async () => {
      const { spec } = await world.reader.read('sx', 'docs');
      return spec.pin === undefined || undefined;
    });
    await awaitRolledOut(await world.publishNext());
  });

  test('a version that git declares is left alone, until Flux ignores it and the key is handed over', async () => {
    const path = 'docs-site/release.yaml';
    await commit({ [path]: edited(path, ['spec', 'values', 'staticExport', 'version'], 'from-git') });
    await world.reader.awaitCondition('docs', 'TargetsSynced', 'False', 'OwnedElsewhere', 300_000);
    await commit(page.replacements);
    const handOver = page.commands.find((block) => block.includes('--force-conflicts'));
    const { code, stderr } = await world.runShell(handOver ?? 'false');
    assert.equal(code, 0, stderr);
    const version = await world.publishNext();
    await awaitRolledOut(version);
    await commit({ [path]: edited(path, ['spec', 'values', 'server', 'replicas'], 4) });
    const { spec } = await site();
    assert.deepEqual([spec.values.server.replicas, spec.values.staticExport.version], [4, version]);
  });

  test('a StaticExport whose file is deleted from git stays', async () => {
    // An empty folder is a failure of Flux, so another object stays in it.
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'left', namespace: 'docs' } };
    await commit({
      'docs-export/static-export.yaml': undefined,
      'docs-export/api-key.yaml': undefined,
      'docs-export/map.yaml': stringify(map),
      'clusters/production/docs-export.yaml': edited(
        'clusters/production/docs-export.yaml',
        ['spec', 'healthChecks'],
        undefined,
      ),
    });
    const secrets = await world.kubectl(['get', 'secrets', '-n', 'docs', '-o', 'name']);
    assert.ok(!secrets.stdout.includes('/export-api'), 'what is not protected is pruned');
    assert.ok(secrets.stdout.includes('/docs-bundle'));
    assert.equal((await world.reader.read('sx', 'docs')).metadata.deletionTimestamp, undefined);
  });

  test('no line of the log, event or HelmRelease holds a key or a link', () =>
    world.assertNothingLeaks(release));
});
