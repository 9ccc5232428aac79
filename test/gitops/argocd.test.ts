// The `Application` target with the real Argo CD: how soon a version is live, an owner that declares the key, the ways to
// leave the key to the operator, each place where values can be, and syncs that a person starts.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { parse } from 'yaml';
import { eventuallyInCluster } from '../support/eventually.ts';
import { type ArgoCd, startArgoCd } from '../support/gitops/argocd.ts';
import { applyDefinitions } from '../support/gitops/definitions.ts';
import type { GitRepository } from '../support/gitops/git-repository.ts';
import { type GitServer, startGitServer } from '../support/gitops/git-server.ts';
import { noGitOps } from '../support/gitops/programs.ts';
import { consent, type OperatorWorld, startOperatorWorld } from './operator-world.ts';
import { siteChart } from './site-chart.ts';

const docs = 'docs';
const resyncSeconds = 3;
const kind = 'applications.argoproj.io';
const names = ['fast', 'second', 'commented', 'declared', 'ignored', 'manual', 'asked', 'plain', 'both'];

suite('the Application target with Argo CD', { skip: noGitOps }, () => {
  let world: OperatorWorld;
  let argo: ArgoCd;
  let server: GitServer;
  let repository: GitRepository;

  before(async () => {
    server = await startGitServer();
    repository = await server.createRepository('site', { ...siteChart('chart'), 'plain/map.yaml': plainMap });
    world = await startOperatorWorld({
      namespaces: [docs, 'argocd'],
      targets: { applications: [{ namespace: 'argocd', names }] },
      applyDefinitions: (controlPlane) => applyDefinitions(controlPlane, 'argocd'),
    });
    argo = await startArgoCd(world.cluster.controlPlane, { resyncSeconds });
  });
  after(async () => {
    await argo?.stop();
    await world?.stop();
    await server?.close();
  });

  const application = (name: string, spec: object, isAutomated = true) => ({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace: 'argocd', annotations: consent(name) },
    spec: {
      project: 'default',
      destination: { server: 'https://kubernetes.default.svc', namespace: docs },
      ...spec,
      ...(isAutomated && { syncPolicy: { automated: { prune: true, selfHeal: true } } }),
    },
  });
  const chartSource = (helm: object = {}) => ({
    repoURL: repository.url,
    targetRevision: 'main',
    path: 'chart',
    helm: { valuesObject: { replicas: 2 }, ...helm },
  });
  const toApplication = (name: string, more: object = {}) =>
    world.create(name, { type: 'Application', application: { namespace: 'argocd', name, ...more } });
  const liveValues = async (name: string) => {
    const { data } = await world.get('configmap', docs, name);
    return { version: data.version, values: JSON.parse(data.values) };
  };
  const awaitLive = (name: string, version: string): Promise<true> =>
    eventuallyInCluster(
      `${version} live in ${name}`,
      async () => (await liveValues(name)).version === version || undefined,
    );
  const isOurs = ({ manager }: { readonly manager: string }): boolean => manager === 'static-export-operator';
  /** An Application that applies `children` from git and reverts what differs. */
  const applyParent = async (
    name: string,
    child: object,
    more: { readonly spec?: object; readonly syncOptions?: readonly string[] } = {},
  ) => {
    await repository.commit({ [`${name}/child.yaml`]: JSON.stringify(child) });
    await argo.apply({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name, namespace: 'argocd' },
      spec: {
        project: 'default',
        destination: { server: 'https://kubernetes.default.svc', namespace: 'argocd' },
        source: { repoURL: repository.url, targetRevision: 'main', path: name },
        syncPolicy: {
          automated: { prune: true, selfHeal: true },
          ...(more.syncOptions !== undefined && { syncOptions: more.syncOptions }),
        },
        ...more.spec,
      },
    });
    await argo.awaitApplication(
      name,
      'synced',
      ({ status }) => status?.sync?.status === 'Synced' || undefined,
    );
  };

  test('a written version is live within seconds, and the target follows it to Healthy', async (t) => {
    await argo.apply(application('fast', { source: chartSource() }));
    await argo.awaitApplication(
      'fast',
      'healthy',
      ({ status }) => status?.health?.status === 'Healthy' || undefined,
    );
    // An Application without objects is healthy too, and a watch of an absent object ends at once.
    await eventuallyInCluster('the ConfigMap of the chart', () => liveValues('fast'));
    const written = new Map<string, number>();
    const live = new Map<string, number>();
    const started = new Set<object>();
    const note = (seen: Map<string, number>) => (line: string) => {
      started.add(seen);
      if (line !== '' && !seen.has(line)) seen.set(line, performance.now());
    };
    const { watch } = world.cluster.controlPlane;
    const path = '{.spec.source.helm.valuesObject.staticExport.version}{"\\n"}';
    watch(['get', kind, 'fast', '-n', 'argocd', '-o', `jsonpath=${path}`], note(written));
    watch(['get', 'configmap', 'fast', '-n', docs, '-o', 'jsonpath={.data.version}{"\\n"}'], note(live));
    await eventuallyInCluster('both watches', () => started.size === 2 || undefined);
    await toApplication('fast');
    const versions = [await world.activeVersion('fast')];
    for (let export_ = 0; export_ < 5; export_ += 1) {
      await awaitLive('fast', versions.at(-1) ?? '');
      versions.push(await world.publishNext('fast'));
    }
    await awaitLive('fast', versions.at(-1) ?? '');
    await eventuallyInCluster('both times of each version', () => {
      const missing = versions.filter((version) => !written.has(version) || !live.has(version));
      assert.deepEqual(missing, []);
      return true;
    });
    const seconds = versions.map(
      (version) => ((live.get(version) ?? 0) - (written.get(version) ?? 0)) / 1_000,
    );
    const sorted = seconds.toSorted((one, other) => one - other);
    const shown = sorted.map((one) => one.toFixed(2)).join(' ');
    const median = ((sorted[2] ?? 0) + (sorted[3] ?? 0)) / 2;
    t.diagnostic(`written to live, seconds: median ${median.toFixed(2)} of ${shown}`);
    await world.reader.awaitCondition('fast', 'TargetsSynced', 'True', 'Synced');
    assert.equal((await liveValues('fast')).values.replicas, 2);
  });

  test('of several sources the one with the chart gets the key', async () => {
    const sources = [
      { repoURL: repository.url, targetRevision: 'main', ref: 'values' },
      chartSource({ releaseName: 'second' }),
    ];
    await argo.apply(application('second', { sources }));
    await toApplication('second');
    await awaitLive('second', await world.activeVersion('second'));
    await world.reader.awaitCondition('second', 'TargetsSynced', 'True', 'Synced');
  });

  test('values in a text are edited there, and its comments stay', async () => {
    const values = '# how many\nreplicas: 3 # three\n';
    const source = { ...chartSource(), helm: { values } };
    await argo.apply(application('commented', { source }));
    await toApplication('commented');
    const version = await world.activeVersion('commented');
    await awaitLive('commented', version);
    const { spec } = await world.get(kind, 'argocd', 'commented');
    assert.equal(spec.source.helm.values, `${values}staticExport:\n  version: "${version}"\n`);
    assert.equal((await liveValues('commented')).values.replicas, 3);
    await world.reader.awaitCondition('commented', 'TargetsSynced', 'True', 'Synced');
  });

  test('a key that an owner declares is never written, over twenty of its sync intervals', async (t) => {
    const source = chartSource({ valuesObject: { staticExport: { version: 'from-git' } } });
    await applyParent('parent-declared', application('declared', { source }));
    await toApplication('declared');
    const found = await world.reader.awaitCondition('declared', 'TargetsSynced', 'False', 'OwnedElsewhere');
    assert.match(
      found.message,
      /Application argocd\/parent-declared declares it; add to its spec: ignoreDifferences/,
    );
    let events = 0;
    const own: string[] = [];
    const managers = 'jsonpath={.metadata.managedFields[*].manager}{"\\n"}';
    const shown = ['-o', managers, '--show-managed-fields'];
    world.cluster.controlPlane.watch(['get', kind, 'declared', '-n', 'argocd', ...shown], (line) => {
      events += 1;
      if (line.includes('static-export-operator')) own.push(line);
    });
    const reconciled = new Set<string>();
    await eventuallyInCluster(
      'twenty sync intervals',
      async () => {
        reconciled.add((await argo.application('parent-declared')).status?.reconciledAt ?? '');
        return reconciled.size > 20 || undefined;
      },
      { timeoutMs: 600_000, everyMs: 500 },
    );
    // Meanwhile a new version, which is not written either.
    await world.publishNext('declared');
    await world.reader.awaitCondition('declared', 'TargetsSynced', 'False', 'OwnedElsewhere');
    t.diagnostic(
      `${reconciled.size} comparisons of the owner, ${events} versions of the object, ${own.length} writes`,
    );
    assert.ok(events > 0);
    assert.deepEqual(own, []);
    assert.equal((await liveValues('declared')).version, 'from-git');
  });

  test('the remedy of the message makes the owner keep the version over ten syncs', async (t) => {
    const source = chartSource({ valuesObject: { staticExport: { version: 'from-git' } } });
    const child = application('ignored', { source });
    await applyParent('parent-ignored', child);
    await toApplication('ignored');
    const found = await world.reader.awaitCondition('ignored', 'TargetsSynced', 'False', 'OwnedElsewhere');
    const [, differences, options] =
      /add to its spec: ignoreDifferences: (\[.*\]) and syncPolicy: (\{.*\})\)$/.exec(found.message) ?? [];
    await applyParent('parent-ignored', child, {
      spec: { ignoreDifferences: parse(differences ?? '') },
      syncOptions: parse(options ?? '').syncOptions,
    });
    const version = await world.publishNext('ignored');
    await awaitLive('ignored', version);
    let kept = 0;
    for (let sync = 1; sync <= 10; sync += 1) {
      // Another key of the child changes in git, so that each sync applies the child again.
      const spec = {
        source: { ...source, helm: { valuesObject: { ...source.helm.valuesObject, replicas: sync } } },
      };
      await repository.commit({ 'parent-ignored/child.yaml': JSON.stringify(application('ignored', spec)) });
      await argo.refresh('parent-ignored', 'hard');
      await eventuallyInCluster('the synced child', async () => {
        const { spec: live } = await world.get(kind, 'argocd', 'ignored');
        return live.source.helm.valuesObject.replicas === sync || undefined;
      });
      const { spec: live } = await world.get(kind, 'argocd', 'ignored');
      if (live.source.helm.valuesObject.staticExport.version === version) kept += 1;
    }
    t.diagnostic(`kept over ${kept} of 10 syncs`);
    assert.equal(kept, 10);
    await world.reader.awaitCondition('ignored', 'TargetsSynced', 'True', 'Synced');
  });

  test('without automated sync the version is written and waits for a person, who syncs', async () => {
    await argo.apply(application('manual', { source: chartSource() }, false));
    await toApplication('manual');
    const version = await world.activeVersion('manual');
    const found = await world.reader.awaitCondition('manual', 'TargetsSynced', 'Unknown', 'AwaitingSync');
    assert.match(found.message, /automated sync is off; sync the Application, or set sync: Request/);
    const operation = { operation: { initiatedBy: { username: 'a-person' }, sync: {} } };
    await world.cluster.kubectl([
      ...['patch', kind, 'manual', '-n', 'argocd', '--type=merge'],
      ...['-p', JSON.stringify(operation)],
    ]);
    await awaitLive('manual', version);
    await world.reader.awaitCondition('manual', 'TargetsSynced', 'True', 'Synced');
  });

  test('sync: Request starts the sync of an Application without automated sync', async () => {
    await argo.apply(application('asked', { source: chartSource() }, false));
    await toApplication('asked', { sync: 'Request' });
    await awaitLive('asked', await world.activeVersion('asked'));
    await world.reader.awaitCondition('asked', 'TargetsSynced', 'True', 'Synced');
    await awaitLive('asked', await world.publishNext('asked'));
    const { status } = await world.get(kind, 'argocd', 'asked');
    assert.equal(status.operationState.operation.initiatedBy.username, 'static-export-operator');
  });

  test('an Application without Helm, or with source and sources, is refused with words and not changed', async () => {
    const plain = {
      source: { repoURL: repository.url, targetRevision: 'main', path: 'plain', directory: {} },
    };
    await argo.apply(application('plain', plain));
    await argo.apply(application('both', { source: chartSource(), sources: [chartSource()] }));
    await toApplication('plain');
    await toApplication('both');
    const refused = await world.reader.awaitCondition('plain', 'TargetsSynced', 'False', 'Refused');
    assert.match(refused.message, /NotHelm: /);
    const ambiguous = await world.reader.awaitCondition('both', 'TargetsSynced', 'False', 'Refused');
    assert.match(ambiguous.message, /it has both spec\.source and spec\.sources; remove one of them/);
    for (const name of ['plain', 'both']) {
      const { metadata } = await world.get(kind, 'argocd', name);
      assert.deepEqual(metadata.managedFields.filter(isOurs), []);
    }
  });

  test('no Application, event or line of the log holds a key or a link', () =>
    world.assertNothingLeaks(kind, 'configmaps'));
});

const plainMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {}\n';
