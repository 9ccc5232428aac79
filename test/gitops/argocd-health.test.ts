// Health of a StaticExport in the real Argo CD, with the check of docs/argo-cd-health.lua: over a first export, an edit, a
// whole scheduled export, a refused key, a suspension, and without an operator.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { keySecret } from '../integration/operator/resources.ts';
import { wrongKey } from '../integration/operator/scripted-vendor.ts';
import { eventuallyInCluster } from '../support/eventually.ts';
import { type ArgoCd, startArgoCd } from '../support/gitops/argocd.ts';
import { applyDefinitions } from '../support/gitops/definitions.ts';
import type { GitRepository } from '../support/gitops/git-repository.ts';
import { type GitServer, startGitServer } from '../support/gitops/git-server.ts';
import { noGitOps } from '../support/gitops/programs.ts';
import { namespace, type OperatorWorld, startOperatorWorld } from './operator-world.ts';

const docs = join(import.meta.dirname, '../../charts/static-export-operator/docs');
const healthKey = 'resource.customizations.health.staticexport.dev_StaticExport';

suite('health of a StaticExport in Argo CD', { skip: noGitOps }, () => {
  let world: OperatorWorld;
  let argo: ArgoCd;
  let server: GitServer;
  let repository: GitRepository;

  before(async () => {
    server = await startGitServer();
    repository = await server.createRepository('exports', { 'README.md': 'exports' });
    world = await startOperatorWorld({
      namespaces: ['argocd'],
      targets: {},
      applyDefinitions: (controlPlane) => applyDefinitions(controlPlane, 'argocd'),
    });
    await world.cluster.apply(keySecret('wrong', wrongKey));
    argo = await startArgoCd(world.cluster.controlPlane, {
      config: { [healthKey]: readFileSync(join(docs, 'argo-cd-health.lua'), 'utf8') },
    });
  });
  after(async () => {
    await argo?.stop();
    await world?.stop();
    await server?.close();
  });

  /** Git holds this StaticExport from now on, and Argo CD syncs it. */
  const commit = async (name: string, spec: object = {}, labels?: object): Promise<void> => {
    const resource = {
      apiVersion: 'staticexport.dev/v1alpha1',
      kind: 'StaticExport',
      metadata: { name, namespace, ...(labels && { labels }) },
      spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'export-api' } }, ...spec },
    };
    await repository.commit({ [`${name}/static-export.yaml`]: stringify(resource) });
    await argo.apply({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name, namespace: 'argocd' },
      spec: {
        project: 'default',
        destination: { server: 'https://kubernetes.default.svc', namespace },
        source: { repoURL: repository.url, targetRevision: 'main', path: name },
        syncPolicy: { automated: { prune: true, selfHeal: true } },
      },
    });
    await argo.refresh(name);
  };
  const awaitHealth = (name: string, expected: string): Promise<true> =>
    argo.awaitApplication(
      name,
      expected,
      ({ status }) => (status?.sync?.status === 'Synced' && status.health?.status === expected) || undefined,
    );
  /** Every health that the Application shows from now on. */
  const noteHealth = (name: string): ReadonlySet<string> => {
    const seen = new Set<string>();
    world.cluster.controlPlane.watch(
      ['get', 'applications', name, '-n', 'argocd', '-o', 'jsonpath={.status.health.status}{"\\n"}'],
      (line) => seen.add(line),
    );
    return seen;
  };
  const hold = (domain: string): (() => void) => {
    let isHeld = true;
    world.vendor.script(domain, { status: () => (isHeld ? 'running' : 'completed') });
    return () => {
      isHeld = false;
    };
  };

  test('Progressing while the first export runs, then Healthy; the same after an edit', async () => {
    const release = hold('edited.example.com');
    await commit('edited');
    await awaitHealth('edited', 'Progressing');
    await world.reader.awaitCondition('edited', 'Reconciling', 'True', 'Exporting');
    release();
    await awaitHealth('edited', 'Healthy');
    const releaseOther = hold('other.example.com');
    await commit('edited', { domain: 'other.example.com' });
    await awaitHealth('edited', 'Progressing');
    releaseOther();
    await awaitHealth('edited', 'Healthy');
  });

  test('Healthy over whole scheduled exports, one unchanged, one published and one failed', async (t) => {
    await commit('nightly', { schedule: '* * * * *' });
    await awaitHealth('nightly', 'Healthy');
    const seen = noteHealth('nightly');
    const read = async () => (await world.reader.read('sx', 'nightly')).status;
    const before = (await read()).active.version;
    const awaitJob = (what: string, look: (status: Awaited<ReturnType<typeof read>>) => boolean) =>
      eventuallyInCluster(what, async () => look(await read()) || undefined);
    const release = hold('nightly.example.com');
    await awaitJob('a running job', ({ job }) => job.cause === 'Schedule' && job.state === 'running');
    await argo.refresh('nightly', 'hard');
    release();
    await awaitJob('an unchanged export', ({ job }) => job.verdict === 'Unchanged');
    world.vendor.script('nightly.example.com', { content: { 'index.html': '<h1>next</h1>' } });
    await awaitJob('a published export', ({ active }) => active.version !== before);
    world.vendor.script('nightly.example.com', { status: () => 'failed' });
    await awaitJob('a failed export', ({ job }) => job.verdict === 'JobFailed');
    const { reconciledAt } = (await argo.application('nightly')).status ?? {};
    // It shows whole seconds.
    await sleep(1000);
    await argo.refresh('nightly', 'hard');
    await argo.awaitApplication(
      'nightly',
      'compared again',
      ({ status }) => status?.reconciledAt !== reconciledAt || undefined,
    );
    await awaitHealth('nightly', 'Healthy');
    t.diagnostic(`health was ${[...seen].join(', ')}`);
    assert.deepEqual([...seen], ['Healthy']);
  });

  test('Degraded when the key is refused', async () => {
    await commit('refused', { api: { keySecretRef: { name: 'wrong' } } });
    await awaitHealth('refused', 'Degraded');
    await world.reader.awaitCondition('refused', 'Stalled', 'True', 'KeyRefused');
  });

  test('Suspended while git suspends it, and Healthy again after', async () => {
    await commit('paused');
    await awaitHealth('paused', 'Healthy');
    await commit('paused', { suspend: true });
    await awaitHealth('paused', 'Suspended');
    await commit('paused', {});
    await awaitHealth('paused', 'Healthy');
  });

  test('Progressing where no operator manages it', async () => {
    await commit('unmanaged', {}, { 'staticexport.dev/instance': 'another' });
    await awaitHealth('unmanaged', 'Progressing');
  });

  test('no line of the log and no Application holds a key or a link', () =>
    world.assertNothingLeaks('applications'));
});
