// What waits for a StaticExport, with the real programs: `kubectl wait`, and kustomize-controller of Flux, which judges
// readiness by kstatus. It waits for the first export, goes on with dependents, fails early, and ignores nightly exports.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { stringify } from 'yaml';
import { keySecret } from '../integration/operator/resources.ts';
import { wrongKey } from '../integration/operator/scripted-vendor.ts';
import { eventuallyInCluster } from '../support/eventually.ts';
import { applyDefinitions } from '../support/gitops/definitions.ts';
import {
  type KustomizeController,
  startKustomizeController,
} from '../support/gitops/kustomize-controller.ts';
import { type PlayedSource, playSource } from '../support/gitops/played-source.ts';
import { noGitOps } from '../support/gitops/programs.ts';
import { namespace, type OperatorWorld, startOperatorWorld } from './operator-world.ts';

const staticExport = (name: string, spec: object = {}) => ({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name, namespace },
  spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'export-api' } }, ...spec },
});

suite('health of a StaticExport', { skip: noGitOps }, () => {
  let world: OperatorWorld;
  let flux: KustomizeController;
  let fleet: PlayedSource;
  const files: Record<string, string> = {};

  before(async () => {
    world = await startOperatorWorld({
      namespaces: [],
      targets: {},
      applyDefinitions: (controlPlane) => applyDefinitions(controlPlane, 'flux'),
    });
    await world.cluster.apply(keySecret('wrong', wrongKey));
    flux = await startKustomizeController(world.cluster.controlPlane);
    fleet = await playSource(world.cluster.controlPlane, { namespace, name: 'fleet' });
  });
  after(async () => {
    await flux?.stop();
    await fleet?.close();
    await world?.stop();
  });

  /** Holds the jobs of a domain until the returned function is called. */
  const hold = (name: string): (() => void) => {
    let isHeld = true;
    world.vendor.script(`${name}.example.com`, { status: () => (isHeld ? 'running' : 'completed') });
    return () => {
      isHeld = false;
    };
  };
  const wait = (name: string, timeout: string) =>
    world.cluster.controlPlane.kubectl([
      'wait',
      `staticexport/${name}`,
      '--for=condition=Ready',
      `--namespace=${namespace}`,
      `--timeout=${timeout}`,
    ]);
  const kustomization = (name: string, spec: object) => ({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name, namespace },
    spec: {
      // Longer than the test: only a kept failure, and not the timeout, ends a health check early.
      ...{ interval: '10m', timeout: '30m', path: `./${name}`, prune: true },
      sourceRef: { kind: 'GitRepository', name: 'fleet' },
      ...spec,
    },
  });
  const healthChecks = (name: string) => [
    { apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport', name, namespace },
  ];
  const configMap = (name: string): string =>
    stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: {} });
  /** Git holds the StaticExport, and a second Kustomization with a ConfigMap depends on it. */
  const commit = async (name: string, spec: object, checks: object): Promise<void> => {
    files[`${name}/static-export.yaml`] = stringify(staticExport(name, spec));
    files[`after-${name}/map.yaml`] = configMap(`after-${name}`);
    await fleet.publish(files);
    await world.cluster.apply(
      kustomization(name, checks),
      kustomization(`after-${name}`, { dependsOn: [{ name }] }),
    );
  };
  const readyOf = async (name: string) => {
    const { status } = await world.get('kustomization', namespace, name);
    const conditions: readonly Condition[] = status?.conditions ?? [];
    return conditions.find(({ type }) => type === 'Ready');
  };
  const awaitReady = (name: string, status: string, reason: string): Promise<Condition> =>
    eventuallyInCluster(`Kustomization ${name} with Ready=${status}/${reason}`, async () => {
      const ready = await readyOf(name);
      if (ready?.status === status && ready.reason === reason) return ready;
      throw new Error(JSON.stringify(ready));
    });
  const hasMap = async (name: string): Promise<boolean> => {
    const { stdout } = await world.cluster.kubectl(['get', 'configmap', '-n', namespace, '-o', 'name']);
    return stdout.split('\n').includes(`configmap/${name}`);
  };

  test('kubectl wait waits for the first export and returns when it is published', async () => {
    const release = hold('waited');
    await world.create('waited');
    await world.reader.awaitCondition('waited', 'Reconciling', 'True', 'Exporting');
    const early = await wait('waited', '2s');
    assert.equal(early.code, 1);
    assert.match(early.stderr, /timed out waiting for the condition/);
    const waiting = wait('waited', '60s');
    release();
    const { code, stdout, stderr } = await waiting;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /staticexport\.staticexport\.dev\/waited condition met/);
    assert.equal((await world.reader.condition('waited', 'Ready'))?.reason, 'Published');
  });

  for (const [name, checks] of [
    ['by-wait', { wait: true }],
    ['by-checks', { healthChecks: healthChecks('by-checks') }],
  ] as const) {
    test(`a Kustomization ${name.replace('-', ' ')} is Ready with the StaticExport, and only then its dependent`, async () => {
      const release = hold(name);
      await commit(name, {}, checks);
      await world.reader.awaitCondition(name, 'Reconciling', 'True', 'Exporting');
      await eventuallyInCluster('running health checks', async () => {
        const { status } = await world.get('kustomization', namespace, name);
        return JSON.stringify(status).includes('Running health checks for revision') || undefined;
      });
      await awaitReady(`after-${name}`, 'False', 'DependencyNotReady');
      assert.equal(await hasMap(`after-${name}`), false);
      release();
      await world.reader.awaitCondition(name, 'Ready', 'True', 'Published');
      await awaitReady(name, 'True', 'ReconciliationSucceeded');
      await awaitReady(`after-${name}`, 'True', 'ReconciliationSucceeded');
      assert.equal(await hasMap(`after-${name}`), true);
    });
  }

  test('a refused key fails the Kustomization at once, half an hour before its timeout', async (t) => {
    const start = performance.now();
    await commit('refused', { api: { keySecretRef: { name: 'wrong' } } }, { wait: true });
    const { message } = await awaitReady('refused', 'False', 'HealthCheckFailed');
    t.diagnostic(`failed after ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    assert.match(message, /StaticExport\/team-a\/refused status: 'Failed'/);
    await awaitReady('after-refused', 'False', 'DependencyNotReady');
    assert.equal(await hasMap('after-refused'), false);
  });

  test('a scheduled export under way leaves the Kustomization Ready over ten of its checks', async (t) => {
    await commit('nightly', { schedule: '* * * * *' }, { wait: true, interval: '3s' });
    await awaitReady('nightly', 'True', 'ReconciliationSucceeded');
    const release = hold('nightly');
    const seen = new Set<string>();
    const [ready, part] = ['.status.conditions[?(@.type=="Ready")]', '{"|"}'];
    const path = `{${ready}.status}${part}{${ready}.reason}${part}{${ready}.message}{"\\n"}`;
    world.cluster.controlPlane.watch(
      ['get', 'kustomization', 'nightly', '-n', namespace, '-o', `jsonpath=${path}`],
      (line) => seen.add(line),
    );
    const job = async () => (await world.reader.read('sx', 'nightly')).status.job;
    await eventuallyInCluster('a scheduled job', async () => {
      const { cause, state } = await job();
      return (cause === 'Schedule' && state === 'running') || undefined;
    });
    const checks = async (): Promise<number> => {
      const { status } = await world.get('kustomization', namespace, 'nightly');
      return status?.history?.[0]?.totalReconciliations ?? 0;
    };
    const first = await checks();
    await eventuallyInCluster('ten checks', async () => (await checks()) >= first + 10 || undefined, {
      timeoutMs: 300_000,
    });
    assert.equal((await job()).state, 'running');
    world.vendor.script('nightly.example.com', { content: { 'index.html': '<h1>next</h1>' } });
    const before = await world.activeVersion('nightly');
    release();
    // The held job has the old content; the next one publishes.
    await eventuallyInCluster(
      'the next version',
      async () => {
        const { status } = await world.reader.read('sx', 'nightly');
        return status.active.version !== before || undefined;
      },
      { timeoutMs: 300_000 },
    );
    // Flux shows 'Reconciliation in progress' at the start of every reconcile, whatever it applies. A build that fails is the
    // controller's own trouble with its disk: it has not looked at the object.
    const isOfFlux = (line: string): boolean =>
      line === 'Unknown|Progressing|Reconciliation in progress' ||
      line.startsWith('False|BuildFailed|evalsymlink ');
    const outcomes = [...seen].filter((line) => !isOfFlux(line));
    t.diagnostic(`Ready of the Kustomization was ${outcomes.join(', ')}, ${await checks()} times`);
    assert.equal(outcomes.length, 1, outcomes.join('\n'));
    assert.match(outcomes[0] ?? '', /^True\|ReconciliationSucceeded\|Applied revision: /);
  });

  test('no line of the log and no event holds a key or a link', () => world.assertNothingLeaks());
});

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
