// The commands with a cluster, on a real API server with the real operator: what they show is what kubectl shows, and
// what they change is what the operator then does. Also as a plugin of the real kubectl.

import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../support/cli-in-process.ts';
import { findClusterTools } from '../../support/cluster-tools.ts';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { programFile } from '../../support/program-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { openTerminal } from '../../support/terminal.ts';
import { startEnvironment } from '../operator/operator-environment.ts';
import { goodKey } from '../operator/scripted-vendor.ts';

const namespace = 'team-a';
const program = programFile('static-export');

const folder = temporaryFolder();
const { world, vendor, reader, staticExport, start } = await startEnvironment({
  namespaces: [namespace],
  ownControlPlane: true,
});
const { kubeconfig } = world.controlPlane;
// The library of Kubernetes reads it from this process itself.
process.env['KUBECONFIG'] = kubeconfig;
await world.apply(staticExport('docs'), staticExport('held', { promotion: { mode: 'Manual' } }));
await start();
await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
await reader.awaitCondition('held', 'Exported', 'False', 'AwaitingPromotion');
/** After the operator has written what follows from the edit before: a write in between ends a command as a conflict. */
async function run(...args: readonly string[]): Promise<CommandResult> {
  await eventually('the last edit reconciled', async () => {
    const { metadata, status } = await reader.read('sx', 'docs');
    return status.observedGeneration === metadata.generation || undefined;
  });
  return runInProcess(args);
}

async function json(exitCode: number, ...args: readonly string[]) {
  const { code, stdout, stderr } = await run(...args, '-n', namespace, '-o', 'json');
  assert.equal(code, exitCode, stderr);
  return JSON.parse(stdout);
}

const activeVersion = async (): Promise<string> => (await json(0, 'status', 'docs')).version;

test('get and status show what kubectl shows', async () => {
  const { items } = await json(0, 'get');
  assert.deepEqual(
    items.map(({ name, ready }: { name: string; ready: string }) => [name, ready]),
    [
      ['docs', 'True'],
      ['held', 'False'],
    ],
  );
  const { status } = await reader.read('sx', 'docs');
  const shown = await json(0, 'status', 'docs');
  assert.deepEqual([shown.version, shown.digest], [status.active.version, status.active.digest]);
  assert.equal(shown.conditions.length, status.conditions.length);
  const { stdout } = await run('get', '--all-namespaces');
  assert.match(
    stdout,
    /^NAMESPACE +NAME +READY +REASON +EXPORTED +JOB +VERSION +PAGES +LINK-EXPIRES\nteam-a +docs +True +Published/,
  );
});

test('request without a name takes the only StaticExport, and names several', async () => {
  const error = await json(2, 'request');
  assert.deepEqual(
    [error.code, error.message],
    ['NameMissing', `namespace ${namespace} has 2 StaticExports; name one of them`],
  );
  assert.deepEqual(error.next, [
    `static-export request docs -n ${namespace}  # docs.example.com`,
    `static-export request held -n ${namespace}  # held.example.com`,
  ]);
  const none = await run('request', '-n', 'default', '-o', 'json');
  assert.deepEqual([none.code, JSON.parse(none.stdout).code], [8, 'NotFound'], none.stderr);
  const only = { ...staticExport('only'), metadata: { name: 'only', namespace: 'default' } };
  await world.apply(only);
  const one = await run('request', '-n', 'default', '--dry-run', 'server');
  assert.equal(one.code, 0, one.stderr);
  assert.match(one.stderr, /^The only StaticExport of namespace default is only$/m);
  assert.match(one.stdout, /dry run: nothing was stored/);
});

test('request --wait ends when the export is published, held or failed', async () => {
  const first = await activeVersion();
  vendor.script('docs.example.com', { content: { 'index.html': '<h1>second</h1>', 'a.html': 'a' } });
  const { changed, version } = await json(0, 'request', 'docs', '--wait');
  assert.equal(changed, true);
  assert.notEqual(version, first);
  const again = await run('request', 'docs', '--wait', '-n', namespace);
  assert.equal(again.stdout, `The content is unchanged; version ${version} stays published.\n`);
  assert.equal((await json(0, 'request', 'docs', '--wait')).changed, false);
  vendor.script('docs.example.com', { status: () => 'failed' });
  assert.equal((await json(4, 'request', 'docs', '--wait')).code, 'JobFailed');
  vendor.script('docs.example.com', { status: () => 'completed' });
});

test('request --wait ends where no job can start: a refused key, a suspended StaticExport', async () => {
  const setKey = (apiKey: string): Promise<void> =>
    world.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'export-api', namespace },
      stringData: { apiKey },
    });
  await setKey('refused');
  const wait = ['--wait', '--timeout', '2m'];
  assert.equal((await json(3, 'request', 'docs', ...wait)).code, 'KeyRefused');
  assert.equal((await json(3, 'rollback', 'docs', '--yes', ...wait)).code, 'KeyRefused');
  await json(0, 'unpin', 'docs');
  await setKey(goodKey);
  // The operator still writes status because of the unpin, and a conflict with it ends a command with 5.
  await eventually(
    'suspended',
    async () => (await run('suspend', 'docs', '-n', namespace)).code === 0 || undefined,
  );
  assert.equal((await json(7, 'request', 'docs', ...wait)).code, 'RequestPending');
  const { stdout } = await run('request', 'docs', '-n', namespace);
  assert.match(
    stdout,
    /is suspended\. The export stays requested, and starts after resume\.\n +static-export resume docs/,
  );
  await json(0, 'resume', 'docs');
  // Or it would publish a version within the tests below.
  await eventually('the requested export', async () => {
    const { metadata, status } = await reader.read('sx', 'docs');
    const isDone = status.lastCompletedRequest === metadata.annotations['staticexport.dev/requestedAt'];
    return isDone || undefined;
  });
});

test('rollback needs --yes without a terminal, pins the version before, and unpin removes it', async () => {
  const { versions } = await json(0, 'history', 'docs');
  const newest = await activeVersion();
  const before = versions.find(({ version }: { version: string }) => version !== newest)?.version;
  assert.equal((await json(2, 'rollback', 'docs')).code, 'ConfirmationMissing');
  await json(0, 'rollback', 'docs', '--dry-run=server');
  assert.equal(await activeVersion(), newest);
  const { changed, version, requestedVersion } = await json(0, 'rollback', 'docs', '--yes', '--wait');
  assert.deepEqual(
    [changed, version, requestedVersion, await activeVersion()],
    [true, before, before, before],
  );
  assert.equal((await json(0, 'pin', 'docs', before, '--wait')).changed, false);
  assert.equal((await json(2, 'pin', 'docs', 'nonsense')).code, 'VersionInvalid');
  assert.equal((await json(8, 'pin', 'docs', '20200101-000000-ffffffff')).code, 'VersionUnknown');
  assert.equal((await json(0, 'unpin', 'docs')).changed, true);
  assert.equal((await json(0, 'unpin', 'docs')).changed, false);
  await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
});

test('on a terminal a risky change asks: no changes nothing, Ctrl-C ends with 130, yes goes on', async () => {
  const active = await activeVersion();
  const { versions } = await json(0, 'history', 'docs');
  const other = versions.find(({ version }: { version: string }) => version !== active)?.version;
  const env = { PATH: process.env['PATH'], KUBECONFIG: kubeconfig };
  const words = `'${process.execPath}' '${program}' rollback docs ${other} -n ${namespace}; echo "exit $?"`;
  for (const [keys, shown] of [
    ['n\r', /not confirmed; nothing was changed[\s\S]*exit 2/],
    ['\u0003', /stopped by SIGINT[\s\S]*exit 130/],
    ['y\r', /is requested as the pinned version[\s\S]*static-export status docs[\s\S]*exit 0/],
  ] as const) {
    const terminal = openTerminal(words, { cwd: folder, env });
    try {
      await terminal.awaitText(/This pins \S+ \(\d+ pages?\) in place of [\s\S]*Continue\? \[y\/N\]/);
      assert.equal(await activeVersion(), active);
      terminal.type(keys);
      await terminal.awaitText(shown);
    } finally {
      terminal.close();
    }
  }
  await reader.awaitCondition('docs', 'Ready', 'True', 'Pinned');
  await json(0, 'unpin', 'docs');
  await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
});

test('promote publishes the candidate that a gate holds', async () => {
  const { candidate } = await json(0, 'status', 'held');
  assert.equal(
    (await json(8, 'promote', 'held', '20200101-000000-ffffffff', '--yes')).code,
    'VersionUnknown',
  );
  const { stdout } = await run('status', 'held', '-n', namespace);
  assert.match(stdout, /static-export promote held/);
  assert.equal((await json(0, 'promote', 'held', candidate, '--yes', '--wait')).version, candidate);
  assert.equal((await json(0, 'status', 'held')).version, candidate);
});

test('reject drops the candidate, and its content is not held again', async () => {
  vendor.script('held.example.com', { content: { 'index.html': '<h1>unwanted</h1>' } });
  assert.equal((await json(7, 'request', 'held', '--wait')).code, 'AwaitingPromotion');
  const { candidate, version } = await json(0, 'status', 'held');
  assert.equal((await json(0, 'reject', 'held', candidate)).rejectedVersion, candidate);
  await reader.awaitCondition('held', 'Exported', 'False', 'Rejected');
  const after = await json(0, 'status', 'held');
  assert.deepEqual([after.candidate, after.version, after.ready], [undefined, version, 'True']);
  assert.equal((await json(8, 'reject', 'held')).code, 'NoCandidate');
});

test('refresh-link replaces the link of the published version', async () => {
  const link = async (): Promise<string> => (await reader.readOutput('docs')).text('bundleUrl');
  const [before, version] = [await link(), await activeVersion()];
  const { changed, token } = await json(0, 'refresh-link', 'docs', '--wait');
  assert.equal(changed, true);
  assert.notEqual(await link(), before);
  assert.equal(await activeVersion(), version);
  const { status } = await reader.read('sx', 'docs');
  assert.equal(status.lastHandledRefresh, token);
});

test('a dry run stores nothing', async () => {
  const { patch } = await json(0, 'suspend', 'docs', '--dry-run=client');
  assert.deepEqual(patch, { spec: { suspend: true } });
  assert.equal((await json(0, 'suspend', 'docs', '--dry-run=server')).changed, false);
  assert.equal((await json(0, 'status', 'docs')).suspended, false);
  await json(0, 'suspend', 'docs');
  assert.equal((await json(0, 'status', 'docs')).suspended, true);
  await json(0, 'resume', 'docs');
});

test('a change of the spec that Flux would revert is printed for git', async () => {
  const label = 'kustomize.toolkit.fluxcd.io/name';
  await world.api.patch('sx', 'docs', { metadata: { labels: { [label]: 'apps' } } }, { namespace });
  const { code, stdout, stderr } = await run('suspend', 'docs', '-n', namespace);
  const manifest = [
    'apiVersion: staticexport.dev/v1alpha1',
    'kind: StaticExport',
    'metadata:',
    '  name: docs',
    `  namespace: ${namespace}`,
    'spec:',
    '  suspend: true',
  ];
  assert.deepEqual([code, stdout], [10, manifest.map((line) => `${line}\n`).join('')]);
  assert.match(stderr, /^Flux manages this object.*instead:$/m);
  const document = await run('suspend', 'docs', '-n', namespace, '-o', 'json');
  assert.deepEqual([document.code, JSON.parse(document.stdout).patch], [10, { spec: { suspend: true } }]);
  assert.match(document.stderr, /^Flux manages this object.*Nothing was changed\.$/m);
  assert.equal((await json(0, 'status', 'docs')).suspended, false);
  await world.api.patch('sx', 'docs', { metadata: { labels: { [label]: null } } }, { namespace });
});

test('what is absent, forbidden or unreachable has its exit code', async () => {
  assert.equal((await json(8, 'status', 'nothing')).code, 'NotFound');
  assert.equal((await json(8, 'get', '--context', 'gone')).code, 'UnknownContext');
  const forbidden = await run(
    'status',
    'docs',
    '-n',
    'default',
    '-o',
    'json',
    '--kubeconfig',
    world.kubeconfig,
  );
  assert.equal(forbidden.code, 8, forbidden.stderr);
  assert.equal(JSON.parse(forbidden.stdout).code, 'Forbidden');
  const closed = join(folder, 'closed');
  const text = readFileSync(kubeconfig, 'utf8');
  writeFileSync(closed, text.replaceAll(world.controlPlane.server, 'https://127.0.0.1:1'));
  const away = await run('get', '-o', 'json', '--kubeconfig', closed, '--cluster-timeout', '15s');
  assert.equal(away.code, 5, away.stderr);
  assert.equal(JSON.parse(away.stdout).code, 'Unavailable');
});

test('kubectl finds it as a plugin', async () => {
  const plugin = join(folder, 'kubectl-static_export');
  writeFileSync(plugin, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(plugin, 0o755);
  const env = { PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: kubeconfig };
  const { kubectl } = await findClusterTools();
  const words = ['static-export', 'get', 'docs', '-n', namespace, '-o', 'json'];
  const { stdout } = await runCommand([kubectl, ...words], { env });
  assert.equal(JSON.parse(stdout).items[0].name, 'docs');
});
