// Two operators as real processes, the real export service, and a site to export: one leads, the other takes over
// when it is killed, and no replica works without the lease. frozen-leader.test.ts freezes one.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import { eventually } from '../../support/eventually.ts';
import { startChartedCluster } from './charted-cluster.ts';
import { leads, type OperatorProcess, startOperator } from './operator-process.ts';
import { startRealExportService } from './real-export-service.ts';
import { requirePublishedLink } from './resource-reader.ts';
import { keySecret, namespace, staticExportOf } from './resources.ts';

const apiKey = 'svc_replicas-Hq27';
const pages: Readonly<Record<string, string>> = {
  '/': '<h1>Home</h1><a href="/guide">guide</a><a href="/api">api</a>',
  '/guide': '<h1>Guide</h1>',
  '/api': '<h1>API</h1>',
};
// All namespaces this time: the chart's ClusterRole.
const world = await startChartedCluster({
  ownControlPlane: true,
  namespaces: [namespace],
  watchNamespaces: [],
});
const projectId = '5f0c9a7e1d';
const project = `--project=${projectId}=docs.example.com`;
const { url } = await startRealExportService(world.folder, apiKey, (path) => pages[path], project);
const flags = [`--api-base-url=${url}`, '--allow-private-links'];
await world.apply(keySecret('export-api', apiKey));
let [first, second] = await Promise.all([startOperator(world, flags), startOperator(world, flags)]);
after(async () => {
  await Promise.all([first.child.stop(), second.child.stop()]);
  await world.stop();
});

async function exportDocs(name: string): Promise<void> {
  await world.apply(staticExportOf(name, { domain: 'docs.example.com' }));
  await world.kubectl(['wait', '--for=condition=Ready', `sx/${name}`, '-n', namespace, '--timeout=180s']);
}

test('one of two leads, and both are ready', async () => {
  const leader = await eventually('a leader', async () => {
    const both = await Promise.all([leads(first), leads(second)]);
    return both.some((isLeader) => isLeader) ? both : undefined;
  });
  assert.deepEqual([...leader].sort(), [false, true]);
  // From here on, `first` is the one that leads.
  if (!leader[0]) [first, second] = [second, first];
  assert.equal((await second.get('/readyz')).status, 200);
});

test('the real export service and the operator publish a real site', async () => {
  await exportDocs('docs');
  const { data } = await world.api.read('secret', 'docs-bundle', namespace);
  const text = Buffer.from(data['bundle.json'], 'base64').toString();
  const published = parsePublishedBundle(text);
  assert.equal(published.pages, Object.keys(pages).length);
  assert.equal((await fetch(requirePublishedLink(published).url.reveal())).status, 200);
});

/** The sum of a counter over all lines that have all of these labels. */
async function count(operator: OperatorProcess, name: string, ...labels: readonly string[]): Promise<number> {
  const lines = (await operator.get('/metrics')).text.split('\n');
  return lines
    .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test('the standby knows the resources and queues none of them', async () => {
  await eventually('the resource on the one that stands by', async () =>
    /^staticexport_resources 1$/m.test((await second.get('/metrics')).text) ? true : undefined,
  );
  assert.ok((await count(first, 'workqueue_adds_total')) > 0);
  assert.equal(await count(second, 'workqueue_adds_total'), 0);
  assert.equal((await second.get('/readyz')).status, 200);
});

test('a reconcile of a resource in its desired state writes nothing', async () => {
  const passes = () => count(first, 'controller_runtime_reconcile_total');
  const writes = async () =>
    (await count(first, 'rest_client_requests_total', 'method="PATCH"')) +
    (await count(first, 'rest_client_requests_total', 'method="POST"'));
  // Events of the export may be written after the status that says Ready.
  let last = -1;
  const writesBefore = await eventually(
    'no more writes for the export',
    async () => {
      const previous = last;
      last = await writes();
      return last === previous ? last : undefined;
    },
    { everyMs: 3_000 },
  );
  const passesBefore = await passes();
  const touched = { metadata: { annotations: { 'example.com/touched': 'yes' } } };
  await world.api.patch('sx', 'docs', touched, { namespace });
  await eventually('another pass', async () => ((await passes()) > passesBefore ? true : undefined));
  assert.equal(await writes(), writesBefore);
  assert.ok(writesBefore > 0);
});

test('a deleted lease is created again by its holder, and by no other replica', async () => {
  const lease = ['lease', world.leaseName, world.operatorNamespace] as const;
  const holder = async (): Promise<string> => (await world.api.read(...lease)).spec.holderIdentity;
  const held = await holder();
  await world.api.remove(...lease);
  assert.equal(await eventually('a lease', holder), held);
  assert.deepEqual([await leads(first), await leads(second)], [true, false]);
});

test('a killed leader is replaced by a standby', async () => {
  await first.child.stop('SIGKILL');
  await eventually('the other to lead', async () => (await leads(second)) || undefined, {
    timeoutMs: 90_000,
  });
  await exportDocs('after-kill');
});

test('the same site is published by its project, and no link is in its status', async () => {
  const api = { projectId, basePath: '/docs', keySecretRef: { name: 'export-api' } };
  await world.apply(staticExportOf('by-project', { domain: undefined, api }));
  await world.kubectl(['wait', '--for=condition=Ready', 'sx/by-project', '-n', namespace, '--timeout=180s']);
  const { data } = await world.api.read('secret', 'by-project-bundle', namespace);
  const published = parsePublishedBundle(Buffer.from(data['bundle.json'], 'base64').toString());
  assert.equal(published.pages, Object.keys(pages).length);
  assert.equal((await fetch(requirePublishedLink(published).url.reveal())).status, 200);
  const { status } = await world.api.read('sx', 'by-project', namespace);
  assert.doesNotMatch(JSON.stringify(status), /signature=/);
});
