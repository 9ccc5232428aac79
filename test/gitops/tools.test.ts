// The tools that other tests of GitOps stand on, each shown once to do what it promises: Argo CD applies what git holds,
// kustomize-controller applies a played source, Flux's own values printer answers, and the git server refuses and holds.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { z } from 'zod';
import { readHelmRelease } from '#operator/targets/helm-release.ts';
import { startControlPlane, type TestCluster } from '../support/cluster.ts';
import { runCommand } from '../support/command.ts';
import { eventuallyInCluster } from '../support/eventually.ts';
import { startArgoCd } from '../support/gitops/argocd.ts';
import { applyDefinitions } from '../support/gitops/definitions.ts';
import { type GitServer, startGitServer } from '../support/gitops/git-server.ts';
import { helmValues } from '../support/gitops/helm-values.ts';
import { startKustomizeController } from '../support/gitops/kustomize-controller.ts';
import { playSource } from '../support/gitops/played-source.ts';
import { noGitOps } from '../support/gitops/programs.ts';
import { createAuthority } from '../support/pki.ts';

const configMap = (value: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'site' }, data: { value } });

suite('the GitOps tools', { skip: noGitOps }, () => {
  let cluster: TestCluster;
  let server: GitServer;
  const login = { username: 'bot', password: 'pass-5fK2' };

  const apply = async (...objects: readonly object[]): Promise<void> => {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    const { code, stderr } = await cluster.kubectl(['apply', '--server-side', '-f', '-'], { input });
    assert.equal(code, 0, stderr);
  };
  const awaitValue = (namespace: string, value: string): Promise<true> =>
    eventuallyInCluster(`${value} in ${namespace}`, async () => {
      const args = ['get', 'configmap', 'site', '-n', namespace, '-o', 'jsonpath={.data.value}'];
      return (await cluster.kubectl(args)).stdout === value || undefined;
    });

  before(async () => {
    cluster = await startControlPlane();
    server = await startGitServer({ login });
    await apply(
      ...['argo', 'flux'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    );
  });
  after(async () => {
    await server?.close();
    await cluster?.stop();
  });

  test('Argo CD applies what a repository behind a login holds, and what a later commit changes', async (t) => {
    const repository = await server.createRepository('site', { 'app/map.yaml': configMap('first') });
    const argo = await startArgoCd(cluster);
    t.after(() => argo.stop());
    await argo.addRepository(repository.url, login);
    await argo.apply({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name: 'site', namespace: 'argocd' },
      spec: {
        project: 'default',
        destination: { server: 'https://kubernetes.default.svc', namespace: 'argo' },
        source: { repoURL: repository.url, targetRevision: 'main', path: 'app' },
        syncPolicy: { automated: { selfHeal: true } },
      },
    });
    await argo.awaitApplication(
      'site',
      'synced and healthy',
      ({ status }) => (status?.sync?.status === 'Synced' && status.health?.status === 'Healthy') || undefined,
    );
    await awaitValue('argo', 'first');
    await repository.commit({ 'app/map.yaml': configMap('second') });
    await argo.refresh('site');
    await awaitValue('argo', 'second');
  });

  test('kustomize-controller applies a played source, and what its next revision changes', async (t) => {
    await applyDefinitions(cluster, 'flux');
    const flux = await startKustomizeController(cluster);
    t.after(() => flux.stop());
    const fleet = await playSource(cluster, { namespace: 'flux', name: 'fleet' });
    t.after(() => fleet.close());
    await fleet.publish({ 'app/map.yaml': configMap('first') });
    await apply({
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: 'fleet', namespace: 'flux' },
      spec: {
        interval: '10m',
        path: './app',
        prune: true,
        targetNamespace: 'flux',
        sourceRef: { kind: 'GitRepository', name: 'fleet' },
      },
    });
    await awaitValue('flux', 'first');
    await fleet.publish({ 'app/map.yaml': configMap('second') });
    await awaitValue('flux', 'second');
  });

  test("Flux's own library joins the values of a HelmRelease, and inline values win", async () => {
    await applyDefinitions(cluster, 'flux');
    await apply(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'values', namespace: 'flux' },
        data: { 'values.yaml': 'replicas: 1\nstaticExport: {version: from-the-map}\n' },
      },
      {
        apiVersion: 'helm.toolkit.fluxcd.io/v2',
        kind: 'HelmRelease',
        metadata: { name: 'site', namespace: 'flux' },
        spec: {
          interval: '5m',
          chartRef: { kind: 'OCIRepository', name: 'site' },
          valuesFrom: [{ kind: 'ConfigMap', name: 'values' }],
          values: { replicas: 2 },
        },
      },
    );
    assert.deepEqual(await helmValues(cluster, 'flux', 'site'), {
      replicas: 2,
      staticExport: { version: 'from-the-map' },
    });
  });

  test('a valuesFrom entry is refused if Flux gives its value to the key, or can no longer join the values', async () => {
    const chartRef = { kind: 'OCIRepository', name: 'site' };
    const data = { version: 'from-the-map', 'values.yaml': 'staticExport: {version: from-the-map}' };
    await apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'pinned', namespace: 'flux' },
      data,
    });
    const values = { staticExport: { version: 'inline' } };
    const wanted = { version: 'inline', digest: undefined };
    const shape = z.object({ staticExport: z.object({ version: z.string() }) });
    const atPath = (targetPath: string) => ({ valuesKey: 'version', targetPath });
    const cases: readonly (readonly [entry: object, effect: 'inline' | 'from-the-map' | 'fails'])[] = [
      [{}, 'inline'],
      [atPath('staticExport'), 'inline'],
      [atPath('staticExport.enabled'), 'inline'],
      [atPath('staticExport\\.version'), 'inline'],
      [atPath('staticExport..version'), 'inline'],
      [atPath('staticExport.version'), 'from-the-map'],
      [atPath('static\\Export.version'), 'from-the-map'],
      [atPath('staticExport.version.below'), 'fails'],
      [atPath('staticExport.version[0]'), 'fails'],
      [atPath('staticExport[0]'), 'fails'],
    ];
    for (const [index, [entry, effect]] of cases.entries()) {
      const release = {
        apiVersion: 'helm.toolkit.fluxcd.io/v2',
        kind: 'HelmRelease',
        metadata: { name: `joined-${index}`, namespace: 'flux' },
        spec: {
          ...{ interval: '5m', chartRef, values },
          valuesFrom: [{ kind: 'ConfigMap', name: 'pinned', ...entry }],
        },
      };
      await apply(release);
      const joined = helmValues(cluster, 'flux', `joined-${index}`).then(
        (found) => shape.parse(found).staticExport.version,
        (error: unknown) => /unable to parse key/.test(String(error)) && 'fails',
      );
      assert.equal(await joined, effect, JSON.stringify(entry));
      const { plan } = readHelmRelease(release, wanted);
      assert.equal(plan.outcome, effect === 'inline' ? 'in-sync' : 'refused', JSON.stringify(entry));
    }
  });

  test('the git server takes a push with the login, and refuses one without it or to a protected branch', async () => {
    const repository = await server.createRepository('writable', { 'a.txt': 'one' });
    await repository.protect('release');
    const folder = `${cluster.folder}/clone`;
    const withLogin = repository.url.replace('http://', `http://${login.username}:${login.password}@`);
    const git = (...args: readonly string[]) =>
      runCommand(['git', '-C', folder, '-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
        env: { GIT_TERMINAL_PROMPT: '0' },
      });
    assert.equal((await runCommand(['git', 'clone', '-q', withLogin, folder])).code, 0);
    await git('commit', '--quiet', '--allow-empty', '--message=second');
    assert.equal((await git('push', '--quiet', 'origin', 'main')).code, 0);
    assert.deepEqual(await repository.log(), ['second', 'first']);
    const refused = await git('push', 'origin', 'main:release');
    assert.match(refused.stderr, /protected branch: refs\/heads\/release/);
    assert.notEqual((await git('ls-remote', repository.url)).code, 0);
    // Another client's commit makes the clone's next push one that is behind.
    await repository.commit({ 'b.txt': 'two', 'a.txt': undefined });
    assert.deepEqual([await repository.read('b.txt'), await repository.read('a.txt')], ['two', undefined]);
    await git('commit', '--quiet', '--allow-empty', '--message=third');
    assert.match((await git('push', 'origin', 'main')).stderr, /rejected/);
  });

  test('the git server holds, refuses and cuts a request where the test says so, also over TLS', async () => {
    const authority = await createAuthority();
    const secure = await startGitServer({
      token: 'token-7Q',
      tls: await authority.issueServer({ dns: ['localhost'], ips: ['127.0.0.1'] }),
    });
    const repository = await secure.createRepository('site', { 'a.txt': 'one' });
    const list = (...config: readonly string[]) =>
      runCommand(
        [
          'git',
          ...['http.extraHeader=Authorization: Bearer token-7Q', ...config].flatMap((one) => ['-c', one]),
          'ls-remote',
          repository.url,
        ],
        { env: { GIT_TERMINAL_PROMPT: '0' } },
      );
    assert.match((await list()).stderr, /certificate/);
    assert.match((await list('http.sslVerify=false')).stdout, /refs\/heads\/main/);
    let release = (): void => {};
    const held = new Promise<'serve'>((resolve) => {
      release = () => resolve('serve');
    });
    secure.onRequest = () => held;
    const waiting = list('http.sslVerify=false');
    const before = secure.requests.length;
    await eventuallyInCluster('the held request', () => secure.requests.length > before || undefined);
    release();
    assert.equal((await waiting).code, 0);
    secure.onRequest = () => ({ status: 503, body: 'closed' });
    assert.match((await list('http.sslVerify=false')).stderr, /503/);
    secure.onRequest = () => 'cut';
    assert.notEqual((await list('http.sslVerify=false')).code, 0);
    assert.deepEqual(new Set(secure.requests.map(({ kind }) => kind)), new Set(['refs-to-fetch', 'fetch']));
    await secure.close();
  });
});
