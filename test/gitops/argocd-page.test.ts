// Every YAML file of docs/argo-cd.md, synced by the real Argo CD as one app of apps: the waves, the health, the version in
// the site's Application, a rollback, and the site without automated sync. Pods do not run here: the status of a
// Deployment is played.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parse, parseDocument } from 'yaml';
import { version } from '#platform/runtime/version.ts';
import { goodKey } from '../integration/operator/scripted-vendor.ts';
import { runCommand } from '../support/command.ts';
import { eventuallyInCluster } from '../support/eventually.ts';
import { type ArgoCd, startArgoCd } from '../support/gitops/argocd.ts';
import type { GitRepository } from '../support/gitops/git-repository.ts';
import { type GitServer, startGitServer } from '../support/gitops/git-server.ts';
import { noGitOps } from '../support/gitops/programs.ts';
import { type Page, readPage } from './page.ts';
import { type PageWorld, startPageWorld } from './page-world.ts';

const root = join(import.meta.dirname, '../..');
const kind = 'applications.argoproj.io';

suite('the repository of the page for Argo CD', { skip: noGitOps }, () => {
  let world: PageWorld;
  let page: Page;
  let argo: ArgoCd;
  let server: GitServer;
  let repository: GitRepository;

  before(async () => {
    server = await startGitServer();
    const mirror = await server.createRepository('mirror');
    await mirror.commit(await chartFiles(), { branch: `v${version}` });
    repository = await server.createRepository('docs', { 'README.md': 'docs' });
    world = await startPageWorld();
    page = readPage('argo-cd', {
      'https://git.example.com/platform/docs.git': repository.url,
      'https://git.example.com/mirror/static-export-operator.git': mirror.url,
      'https://export.example.com': world.vendor.url,
      svc_REPLACE_ME: goodKey,
    });
    await repository.commit(page.files);
    const { data } = parse(page.files['argocd/argocd-cm.yaml'] ?? '');
    argo = await startArgoCd(world.controlPlane, { config: data });
    await argo.apply(parse(page.files['argocd/argocd-cm.yaml'] ?? ''));
    await argo.apply(parse(page.files['argocd/docs-platform.yaml'] ?? ''));
  });
  after(async () => {
    await argo?.stop();
    await world?.stop();
    await server?.close();
  });

  /** Git holds these files, and Argo CD compares every Application of the page with it. */
  const commit = async (changes: Readonly<Record<string, string>>): Promise<void> => {
    const revision = await repository.commit(changes);
    for (const name of ['docs-platform', 'docs-export']) {
      await argo.refresh(name, 'hard');
      await argo.awaitApplication(
        name,
        `compared with ${revision}`,
        ({ status }) => status?.sync?.revision === revision || undefined,
      );
    }
  };
  const edited = async (path: string, field: readonly string[], value: unknown): Promise<string> => {
    const document = parseDocument((await repository.read(path)) ?? '');
    if (value === undefined) document.deleteIn(field);
    else document.setIn(field, value);
    return String(document);
  };
  const awaitHealth = (name: string, health: string): Promise<true> =>
    argo.awaitApplication(
      name,
      health,
      ({ status }) => (status?.sync?.status === 'Synced' && status.health?.status === health) || undefined,
    );
  const names = async (): Promise<readonly string[]> =>
    (await world.kubectl(['get', kind, '-n', 'argocd', '-o', 'name'])).stdout
      .trim()
      .split('\n')
      .map((name) => name.replace(`${kind.replace('applications', 'application')}/`, ''))
      .sort();
  const site = () => world.get(kind, 'argocd', 'docs');
  const versionOfPods = async (): Promise<unknown> => {
    const { spec } = await world.get('deployment', 'docs', 'docs-static-export-site');
    return spec.template.metadata.annotations['staticexport.dev/version'];
  };
  /** The version is in the Application, then in the pods, and the target follows them to Healthy. */
  const awaitRolledOut = async (version: string): Promise<void> => {
    await eventuallyInCluster(
      `${version} in the pods`,
      async () => (await versionOfPods()) === version || undefined,
    );
    assert.equal((await site()).spec.source.helm.valuesObject.staticExport.version, version);
    await world.rollOut('docs', 'docs-static-export-site');
    await world.reader.awaitCondition('docs', 'TargetsSynced', 'True', 'Synced');
  };

  test('the waves are applied in order, and every Application becomes Synced and Healthy', async () => {
    await eventuallyInCluster('the Deployment of the operator', () =>
      world.get('deployment', 'static-export', 'static-export-operator'),
    );
    assert.deepEqual(await names(), ['docs-platform', 'static-export-operator']);
    await world.startOperator();
    await world.rollOut('static-export', 'static-export-operator');
    await eventuallyInCluster('the second wave', async () => (await names()).length === 4 || undefined);
    await awaitHealth('docs-export', 'Healthy');
    await awaitRolledOut(await world.activeVersion());
    for (const name of ['static-export-operator', 'docs-export', 'docs', 'docs-platform'])
      await awaitHealth(name, 'Healthy');
    const waits = page.commands.flatMap((block) =>
      block.split('\n').filter((line) => /^kubectl (wait|get s)/.test(line)),
    );
    assert.equal(waits.length, 3);
    const { code, stdout, stderr } = await world.runShell(waits.join('\n'));
    assert.equal(code, 0, stderr);
    assert.equal(stdout.match(/condition met/g)?.length, 2);
  });

  test('the next version arrives, and the parent keeps it when git changes the site', async () => {
    const version = await world.publishNext();
    await awaitRolledOut(version);
    const path = 'apps/docs-site.yaml';
    const values = ['spec', 'source', 'helm', 'valuesObject'];
    await commit({ [path]: await edited(path, [...values, 'server', 'replicas'], 3) });
    await eventuallyInCluster('three replicas', async () => {
      const { spec } = await world.get('deployment', 'docs', 'docs-static-export-site');
      return spec.replicas === 3 || undefined;
    });
    await awaitRolledOut(version);
    for (const secret of ['docs-bundle-2', 'docs-bundle']) {
      const field = [...values, 'staticExport', 'existingSecret'];
      await commit({ [path]: await edited(path, field, secret) });
      await eventuallyInCluster(`the Secret ${secret} in the pods`, async () => {
        const { spec } = await world.get('deployment', 'docs', 'docs-static-export-site');
        const volumes: readonly { readonly secret?: { readonly secretName: string } }[] =
          spec.template.spec.volumes;
        return volumes.some((volume) => volume.secret?.secretName === secret) || undefined;
      });
      // Argo CD finishes a sync only after the pods of the previous sync are ready.
      await awaitRolledOut(version);
    }
  });

  test('a version that git declares is kept by the operator, because the parent ignores the key', async () => {
    const path = 'apps/docs-site.yaml';
    const field = ['spec', 'source', 'helm', 'valuesObject', 'staticExport', 'version'];
    await commit({ [path]: await edited(path, field, 'from-git') });
    await awaitHealth('docs-platform', 'Healthy');
    await awaitRolledOut(await world.publishNext());
    await commit({ [path]: await edited(path, field, undefined) });
    await awaitHealth('docs-platform', 'Healthy');
    await awaitRolledOut(await world.activeVersion());
  });

  test('the command of the rollback prints what git gets, and git rolls back and goes on', async () => {
    const path = 'docs-export/static-export.yaml';
    const newest = await world.activeVersion();
    const { code, stdout } = await world.runCli('rollback', 'docs', '--namespace=docs');
    assert.equal(code, 10);
    const { pin } = parse(stdout).spec;
    assert.notEqual(pin.version, newest);
    await commit({ [path]: await edited(path, ['spec', 'pin'], pin) });
    await awaitRolledOut(pin.version);
    await commit({ [path]: await edited(path, ['spec', 'pin'], undefined) });
    await world.reader.awaitCondition('docs', 'Ready', 'True', 'Published');
    await awaitRolledOut(await world.publishNext());
  });

  test('a pin without git stays over syncs of Argo CD', async () => {
    const { history } = (await world.reader.read('sx', 'docs')).status;
    const version: string = history[1].version;
    await world.patch('sx', 'docs', 'docs', { spec: { pin: { version } } });
    await awaitRolledOut(version);
    const path = 'docs-export/static-export.yaml';
    await commit({ [path]: await edited(path, ['spec', 'historyLimit'], 6) });
    await eventuallyInCluster('the other field', async () => {
      const { spec } = await world.reader.read('sx', 'docs');
      return spec.historyLimit === 6 || undefined;
    });
    assert.equal((await world.reader.read('sx', 'docs')).spec.pin.version, version);
    await world.patch('sx', 'docs', 'docs', { spec: { pin: null } });
  });

  test('without automated sync a version waits, and sync: Request starts the sync', async () => {
    const path = 'apps/docs-site.yaml';
    await commit({ [path]: await edited(path, ['spec', 'syncPolicy'], undefined) });
    await eventuallyInCluster(
      'no automated sync',
      async () => (await site()).spec.syncPolicy === undefined || undefined,
    );
    await world.publishNext();
    await world.reader.awaitCondition('docs', 'TargetsSynced', 'Unknown', 'AwaitingSync');
    await commit(page.replacements);
    await eventuallyInCluster('the request', async () => {
      const { spec } = await world.reader.read('sx', 'docs');
      return spec.targets[0].application.sync === 'Request' || undefined;
    });
    await awaitRolledOut(await world.publishNext());
  });

  test('a StaticExport whose file is deleted from git stays', async () => {
    await repository.commit({ 'docs-export/static-export.yaml': undefined });
    await argo.refresh('docs-export', 'hard');
    await argo.awaitApplication('docs-export', 'only the key', ({ status }) => {
      const tracked = status?.resources?.find((one) => one.kind === 'StaticExport');
      return tracked?.['requiresPruning'] === true || undefined;
    });
    assert.equal((await world.reader.read('sx', 'docs')).metadata.deletionTimestamp, undefined);
  });

  test('no line of the log, event or Application holds a key or a link', () =>
    world.assertNothingLeaks(kind));
});

/** The charts as git has them. */
async function chartFiles(): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await runCommand(['git', '-C', root, 'ls-files', 'charts']);
  const paths = stdout.trim().split('\n');
  const entries = paths.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(entries));
}
