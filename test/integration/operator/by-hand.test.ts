// Commands of users and pipelines, exactly as in crds/README.md, with real kubectl and the real operator: an export
// requested and awaited, and a reconcile requested at once.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { type ChartedCluster, startChartedCluster } from './charted-cluster.ts';
import { type OperatorProcess, startOperator } from './operator-process.ts';
import { createReader, requirePublishedLink } from './resource-reader.ts';
import { goodKey, type ScriptedVendor, startVendor } from './scripted-vendor.ts';

const namespace = 'by-hand';
const keySecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'export-api', namespace },
  stringData: { apiKey: goodKey },
};
let world: ChartedCluster;
let vendor: ScriptedVendor;
let operator: OperatorProcess;
let reader: ReturnType<typeof createReader>;

before(async () => {
  vendor = await startVendor();
  world = await startChartedCluster({ namespaces: [namespace], watchNamespaces: [namespace] });
  await world.apply(keySecret, {
    apiVersion: 'staticexport.dev/v1alpha1',
    kind: 'StaticExport',
    metadata: { name: 'docs', namespace },
    spec: { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } },
  });
  reader = createReader(world, namespace);
  operator = await startOperator(world, [
    `--api-base-url=${vendor.url}`,
    '--allow-private-links',
    `--watch-namespaces=${namespace}`,
    '--request-timeout=5s',
  ]);
});

after(async () => {
  await operator?.child.stop();
  await vendor?.close();
  await world?.stop();
});

/** The commands of the README that contain all of these words; they use the resource `docs`. */
async function commandsOf(...words: readonly string[]): Promise<readonly string[]> {
  const readme = await readFile(new URL('../../../crds/README.md', import.meta.url), 'utf8');
  const found = [...readme.matchAll(/(?:^|`)kubectl ([^`\n]+)/gm)].map(([, command = '']) => command.trim());
  const named = found.filter((command) => words.every((word) => command.includes(word)));
  assert.ok(named.length > 0, `no command with ${words.join(', ')}`);
  return named;
}

/** The arguments as a shell would split them, with these values in place of its substitutions. */
function run(command: string, token: string, ...more: readonly string[]) {
  const filled = command.replaceAll(/"?\$token"?|\$\(date \+%s\)/g, token).replaceAll("'", '');
  return world.kubectl([...filled.split(' '), '-n', namespace, ...more]);
}

const requestAndWait = async (token: string): Promise<void> => {
  const [ask = ''] = await commandsOf('annotate sx docs', 'requestedAt="$token"');
  const [wait = ''] = await commandsOf('wait sx docs', 'lastCompletedRequest');
  await run(ask, token);
  await run(wait, token);
};

test('a client that waits for its request reads its own outcome, not the previous one', async () => {
  await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
  const before = (await reader.readOutput('docs')).published;
  const [judge = ''] = await commandsOf('wait sx docs', 'condition=Exported');

  vendor.script('docs.example.com', { content: { 'index.html': '<h1>new</h1>' } });
  await requestAndWait('with-new-content');
  const after = (await reader.readOutput('docs')).published;
  assert.notEqual(after.version, before.version);
  assert.equal((await reader.read('sx', 'docs')).status.active.version, after.version);
  await run(judge, '');

  // The earlier good state must not count as the answer.
  vendor.script('docs.example.com', { status: (poll) => (poll < 4 ? 'running' : 'failed') });
  await requestAndWait('that-fails');
  assert.equal((await reader.condition('docs', 'Exported'))?.reason, 'JobFailed');
  await assert.rejects(run(judge, ''));
});

test('a requested reconcile restores a deleted output in seconds, with a new link and the same version', async () => {
  const before = (await reader.readOutput('docs')).published;
  const [look = ''] = await commandsOf('annotate sx docs', 'staticexport.dev/reconcile');
  await world.kubectl(['delete', 'secret', 'docs-bundle', '-n', namespace]);
  await run(look, 'now');
  const after = await eventually('the output', async () => (await reader.readOutput('docs')).published, {
    timeoutMs: 30_000,
  });
  assert.equal(after.version, before.version);
  assert.notEqual(requirePublishedLink(after).url.reveal(), requirePublishedLink(before).url.reveal());
});

test('a requested link replaces the published link, and the version stays', async () => {
  const before = (await reader.readOutput('docs')).published;
  const [ask = ''] = await commandsOf('annotate sx docs', 'refreshRequestedAt=');
  await run(ask, 'leaked');
  await eventually('the token', async () => {
    const { status } = await reader.read('sx', 'docs');
    return status.lastHandledRefresh === 'leaked' || undefined;
  });
  const after = (await reader.readOutput('docs')).published;
  assert.equal(after.version, before.version);
  assert.notEqual(requirePublishedLink(after).url.reveal(), requirePublishedLink(before).url.reveal());
});

test('a key deleted while nothing is due sets the metric of the alert, which ends when the key is back', async () => {
  const blocked = `staticexport_calls_blocked{namespace="${namespace}",name="docs",reason="KeyMissing"} 1`;
  const [look = ''] = await commandsOf('annotate sx docs', 'staticexport.dev/reconcile');
  const isShown = async () => (await operator.get('/metrics')).text.includes(blocked);
  const awaitShown = (wanted: boolean) =>
    eventually(
      `the metric ${wanted ? 'there' : 'gone'}`,
      async () => (await isShown()) === wanted || undefined,
    );
  assert.equal(await isShown(), false);
  await world.kubectl(['delete', 'secret', 'export-api', '-n', namespace]);
  await run(look, 'without-key');
  await awaitShown(true);
  assert.equal((await reader.condition('docs', 'Ready'))?.reason, 'Published');
  await world.apply(keySecret);
  await run(look, 'with-key');
  await awaitShown(false);
  reader.assertRulesKept();
});
