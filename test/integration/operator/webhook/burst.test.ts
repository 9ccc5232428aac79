// The whole way of a push: the receiver, the real operator and the real export service, which crawls a site. A burst of
// hooks is one job, and hooks while the resource is suspended wait.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { declareSecret } from '../../../support/secret-watch.ts';
import { hmacHex } from '../../../unit/operator/webhook/signing.ts';
import { startChartedCluster } from '../charted-cluster.ts';
import { startOperator } from '../operator-process.ts';
import { startRealExportService } from '../real-export-service.ts';
import { createReader } from '../resource-reader.ts';
import { keySecret, secretOf, staticExportOf } from '../resources.ts';
import { receiverKubeconfig, startReceiver } from './receiver-process.ts';

const namespace = 'burst';
const apiKey = 'svc_burst-Kq81';
const secret = declareSecret('the secret of the hook', 'the-shared-secret-of-the-burst');
const body = '{"commits":["text-of-a-commit"]}';
declareSecret('the body of a hook', 'text-of-a-commit');
/** Longer than any pause within a burst on a busy machine: such a pause would start an export. */
const quietMs = 6_000;
let title = 'first';
const world = await startChartedCluster({
  namespaces: [namespace],
  watchNamespaces: [namespace],
  webhook: { enabled: true, secretNames: ['docs-hook'] },
});
const { url, admin } = await startRealExportService(world.folder, apiKey, (path) =>
  path === '/' ? `<h1>${title}</h1>` : undefined,
);
const trigger = { webhook: { secretRef: { name: 'docs-hook' } }, quietPeriod: `${quietMs}ms` };
await world.apply(
  keySecret('export-api', apiKey, namespace),
  secretOf('docs-hook', { secret }, namespace),
  staticExportOf('docs', { trigger }, namespace),
);
const reader = createReader(world, namespace);
const flags = [`--api-base-url=${url}`, '--allow-private-links', `--watch-namespaces=${namespace}`];
const [operator, receiver] = await Promise.all([
  startOperator(world, flags),
  startReceiver(await receiverKubeconfig(world)),
]);
after(async () => {
  await receiver.child.stop();
  await operator.child.stop();
  await world.stop();
});
await reader.awaitCondition('docs', 'Ready', 'True', 'Published');

/** Answers to starts, each of which is one job. */
async function jobs(): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  return Number(/export_service_answers_total\{endpoint="jobs",status="202"\} (\d+)/.exec(text)?.[1] ?? 0);
}

async function push(count: number): Promise<void> {
  const signature = declareSecret('the signature of a hook', hmacHex(secret, Buffer.from(body)));
  const headers = { 'X-Hub-Signature-256': `sha256=${signature}` };
  for (let sent = 0; sent < count; sent += 1)
    assert.equal((await receiver.post(`/hooks/${namespace}/docs`, headers, body)).status, 202);
}

async function annotation(): Promise<string> {
  return (await reader.read('sx', 'docs')).metadata.annotations['staticexport.dev/hookRequestedAt'];
}

/** Resolves when the operator has reconciled an edit that was made after the quiet period. */
async function reconciledAfterQuiet(token: string): Promise<void> {
  const isOver = (): true | undefined => Date.now() > Date.parse(token) + quietMs || undefined;
  await eventually('the end of the quiet period', isOver);
  const { spec } = await reader.read('sx', 'docs');
  const edit = { spec: { historyLimit: (spec.historyLimit ?? 10) + 1 } };
  const { metadata } = await world.api.patch('sx', 'docs', edit, { namespace });
  await eventually('the edit reconciled', async () => {
    const { status } = await reader.read('sx', 'docs');
    return status.observedGeneration >= metadata.generation || undefined;
  });
}

const handled = (token: string) =>
  eventually(
    'an export that answers the last hook',
    async () => {
      const { status } = await reader.read('sx', 'docs');
      return (status.lastHandledHook === token && status.job.verdict) || undefined;
    },
    { timeoutMs: 60_000 },
  );

test('a burst of 50 hooks is one job, after the quiet period, and publishes the new content', async () => {
  const before = (await reader.readOutput('docs')).published;
  const already = await jobs();
  title = 'second';
  await push(50);
  assert.equal(await jobs(), already, 'an export started within the burst');
  const token = await annotation();
  assert.equal(await handled(token), 'Promoted');
  const { status } = await reader.read('sx', 'docs');
  assert.ok(Date.parse(status.job.requestTime) >= Date.parse(token) + quietMs - 2000, status.job.requestTime);
  assert.deepEqual([status.job.cause, status.hook], ['Hook', undefined]);
  assert.notEqual((await reader.readOutput('docs')).published.version, before.version);
  await reconciledAfterQuiet(token);
  assert.equal((await jobs()) - already, 1);
});

test('hooks of a suspended resource wait, and one export follows', async () => {
  const already = await jobs();
  const suspend = (isSuspended: boolean) =>
    world.api.patch('sx', 'docs', { spec: { suspend: isSuspended } }, { namespace });
  await suspend(true);
  await push(5);
  await eventually('the words of Ready', async () => {
    const ready = await reader.condition('docs', 'Ready');
    return ready?.message.includes('A requested export waits until spec.suspend is false') || undefined;
  });
  await reconciledAfterQuiet(await annotation());
  assert.equal(await jobs(), already);
  await suspend(false);
  assert.equal(await handled(await annotation()), 'Unchanged');
  assert.equal((await jobs()) - already, 1);
});

test('no observed status broke a rule that other programs rely on', () => reader.assertRulesKept());
