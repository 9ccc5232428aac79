// The Kubernetes adapter on a real API server, with the permissions of the chart's own ServiceAccount. The server keeps
// what it writes, and a missing permission is named in its message.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCluster } from '#operator/kube/cluster.ts';
import { createEventStore } from '#operator/kube/objects/event-store.ts';
import { createLeaseStore } from '#operator/kube/objects/lease-store.ts';
import { type Connection, openConnection } from '#operator/kube/transport/connection.ts';
import { staticExports } from '#operator/kube/transport/resource-path.ts';
import { createTransport, type Transport } from '#operator/kube/transport/transport.ts';
import { createReflector } from '#operator/kube/watch/reflector.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import type { Cluster } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { eventually } from '../../../support/eventually.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { type ChartedCluster, startChartedCluster } from '../charted-cluster.ts';
import { namespace, staticExportOf } from '../resources.ts';

const { signal } = new AbortController();
let world: ChartedCluster;
let connection: Connection;
let transport: Transport;
let cluster: Cluster;

before(async () => {
  world = await startChartedCluster({
    admissionPolicy: 'never',
    ownControlPlane: true,
    namespaces: [namespace, 'team-b'],
    watchNamespaces: [namespace],
  });
  connection = openConnection({ kubeconfig: world.kubeconfig, context: undefined, isInCluster: false });
  transport = createTransport(connection, { clock: systemClock, timeoutMs: 10_000 });
  cluster = createCluster(transport);
});

after(async () => {
  await transport?.close();
  await world?.stop();
});

const refused = (code: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ClusterError);
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return true;
};

const applyStaticExport = (name: string, spec: object = {}): Promise<void> =>
  world.apply(staticExportOf(name, { domain: 'docs.example.com', ...spec }));

const owned = (name: string, data: Record<string, string>, readVersion?: string, uid?: string) => ({
  metadata: {
    namespace,
    name,
    ...(uid !== undefined && { uid }),
    labels: { a: 'b' },
    annotations: {},
    ownerReferences: [],
  },
  data,
  readVersion,
});

test('a missing object reads as undefined', async () => {
  const key = { namespace, name: 'nothing' };
  assert.equal(await cluster.readStaticExport(key, signal), undefined);
  assert.equal(await cluster.readSecret(key, signal), undefined);
  assert.equal(await cluster.readConfigMap(key, signal), undefined);
});

test('a 404 of a version that is not served is not an absence', async () => {
  const resource = { ...staticExports, version: 'v1beta7' };
  const address = { resource, namespace, name: 'nothing' };
  await assert.rejects(
    transport.call({ verb: 'get', method: 'GET', address }, signal),
    refused('Unavailable', /ambiguous 404 for .* staticexport\.dev\/v1beta7 is not served/),
  );
});

test('a Secret is applied and read back byte for byte, and a data key that is not applied again is removed', async () => {
  const first = await cluster.applySecret(owned('out', { 'bundle.json': '{"é":1}', version: 'v1' }), signal);
  assert.deepEqual(first, await cluster.readSecret({ namespace, name: 'out' }, signal), 'as stored');
  const version = first.metadata.resourceVersion;
  await cluster.applySecret(owned('out', { 'bundle.json': '{"é":2}' }, version), signal);
  const late = cluster.applySecret(owned('out', { 'bundle.json': '{"é":0}' }, version), signal);
  await assert.rejects(late, refused('Conflict', /./));
  const again = cluster.applySecret(owned('out', { 'bundle.json': '{"é":0}' }), signal);
  await assert.rejects(again, refused('Conflict', /./));
  const secret = await cluster.readSecret({ namespace, name: 'out' }, signal);
  assert.deepEqual(
    Object.entries(secret?.data ?? {}).map(([key, bytes]) => [key, Buffer.from(bytes).toString()]),
    [['bundle.json', '{"é":2}']],
  );
  assert.deepEqual(secret?.metadata.labels, { a: 'b' });
});

test('a Secret applied as it was read is unchanged, and a deleted Secret is not created again', async () => {
  const key = { namespace, name: 'confirmed' };
  const data = { version: 'v1' };
  const first = await cluster.applySecret(owned('confirmed', data), signal);
  const asRead = owned('confirmed', data, first.metadata.resourceVersion, first.metadata.uid);
  assert.deepEqual(await cluster.applySecret(asRead, signal), first);
  await world.kubectl(['delete', 'secret', 'confirmed', '-n', namespace]);
  await assert.rejects(cluster.applySecret(asRead, signal), refused('Conflict', /./));
  assert.equal(await cluster.readSecret(key, signal), undefined);
  const second = await cluster.applySecret(owned('confirmed', data), signal);
  await assert.rejects(cluster.applySecret(asRead, signal), refused('Conflict', /./));
  assert.deepEqual(await cluster.readSecret(key, signal), second);
});

test('a new output is created and filled by one request, and an apply owns all its fields', async () => {
  const methods: string[] = [];
  const observe = ({ method, code }: { readonly method: string; readonly code: string }): void => {
    methods.push(`${method} ${code}`);
  };
  const counted = createTransport(connection, { clock: systemClock, timeoutMs: 10_000, observe });
  await createCluster(counted).applySecret(owned('one-request', { version: 'v1' }), signal);
  await counted.close();
  assert.deepEqual(methods, ['PATCH 201']);
  const { stdout } = await world.kubectl([
    ...['get', 'secret', 'one-request', '-n', namespace, '-o'],
    'jsonpath={range .metadata.managedFields[*]}{.manager} {.operation};{end}',
    '--show-managed-fields',
  ]);
  assert.equal(stdout, 'static-export-operator Apply;');
});

test('applying leaves the fields of other managers alone', async () => {
  await cluster.applyConfigMap(owned('shared', { version: 'v1' }), signal);
  await world.kubectl([
    'patch',
    'configmap',
    'shared',
    '-n',
    namespace,
    '--type=merge',
    '-p',
    '{"data":{"theirs":"1"}}',
  ]);
  const before = await cluster.readConfigMap({ namespace, name: 'shared' }, signal);
  await cluster.applyConfigMap(owned('shared', { version: 'v2' }, before?.metadata.resourceVersion), signal);
  const map = await cluster.readConfigMap({ namespace, name: 'shared' }, signal);
  assert.deepEqual(map?.data, { version: 'v2', theirs: '1' });
});

test("an edit of another owner's document changes one key, and is refused if the object changed", async () => {
  await world.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'values', namespace },
    data: { 'values.yaml': 'a: 1\n', other: 'x' },
  });
  const key = { namespace, name: 'values' };
  const found = await cluster.readConfigMap(key, signal);
  const edit = {
    kind: 'ConfigMap' as const,
    key,
    dataKey: 'values.yaml',
    text: 'a: 2\n',
    resourceVersion: found?.metadata.resourceVersion ?? '',
  };
  await cluster.editDocument(edit, signal);
  assert.deepEqual((await cluster.readConfigMap(key, signal))?.data, { 'values.yaml': 'a: 2\n', other: 'x' });
  await assert.rejects(cluster.editDocument(edit, signal), refused('Conflict', /changed by another client/));
});

test('a Secret document is edited as text', async () => {
  await world.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'values', namespace },
    stringData: { 'values.yaml': 'a: 1\n', other: 'x' },
  });
  const key = { namespace, name: 'values' };
  const found = await cluster.readSecret(key, signal);
  const resourceVersion = found?.metadata.resourceVersion ?? '';
  await cluster.editDocument(
    { kind: 'Secret', key, dataKey: 'values.yaml', text: 'ä: 2\n', resourceVersion },
    signal,
  );
  const edited = await cluster.readSecret(key, signal);
  assert.equal(Buffer.from(edited?.data['values.yaml'] ?? []).toString(), 'ä: 2\n');
  assert.equal(Buffer.from(edited?.data['other'] ?? []).toString(), 'x');
});

test('status is written through its subresource, absent fields are removed, and a stale write is a conflict', async () => {
  await applyStaticExport('status');
  const fresh = await cluster.readStaticExport({ namespace, name: 'status' }, signal);
  assert.ok(fresh);
  assert.deepEqual(fresh.status, { observedGeneration: -1 });
  const job = { id: 'j1', state: 'queued' };
  const first = await cluster.writeStatus(
    fresh,
    { observedGeneration: 1, job, lastHandledRequest: 'x' },
    signal,
  );
  assert.deepEqual(first.status, { observedGeneration: 1, job, lastHandledRequest: 'x' });
  assert.equal(first.metadata.generation, 1);
  const second = await cluster.writeStatus(first, { observedGeneration: 1, job: { id: 'j1' } }, signal);
  assert.deepEqual(second.status, { observedGeneration: 1, job: { id: 'j1' } });
  await assert.rejects(
    cluster.writeStatus(first, { observedGeneration: 2 }, signal),
    refused('Conflict', /staticexports.staticexport.dev\/status "status" in namespace team-a was changed/),
  );
});

test('a status write for an object that was deleted and created again is a conflict', async () => {
  await applyStaticExport('reborn');
  const old = await cluster.readStaticExport({ namespace, name: 'reborn' }, signal);
  assert.ok(old);
  await world.kubectl(['delete', 'sx', 'reborn', '-n', namespace]);
  await applyStaticExport('reborn');
  await assert.rejects(
    cluster.writeStatus(old, { observedGeneration: 7 }, signal),
    refused('Conflict', /reborn/),
  );
});

test('an invalid status is refused naming the field', async () => {
  await applyStaticExport('invalid');
  const object = await cluster.readStaticExport({ namespace, name: 'invalid' }, signal);
  assert.ok(object);
  await assert.rejects(
    cluster.writeStatus(object, { observedGeneration: 'many' }, signal),
    refused('Invalid', /status\.observedGeneration/),
  );
});

test('a missing permission is named by verb and resource', async () => {
  const elsewhere = { namespace: 'team-b', name: 'x' };
  await assert.rejects(
    cluster.readSecret(elsewhere, signal),
    refused('Forbidden', /does not allow "get" on secrets "x" in namespace team-b/),
  );
  const list = {
    verb: 'list',
    method: 'GET',
    address: { resource: { ...staticExports, group: '', version: 'v1', plural: 'secrets' }, namespace },
  } as const;
  await assert.rejects(
    transport.call(list, signal),
    refused('Forbidden', /does not allow "list" on secrets in namespace team-a/),
  );
});

test('an API server that does not answer is Unavailable, and the message says so', async () => {
  const dead = createTransport(
    { ...connection, server: `https://127.0.0.1:${await findFreePort()}` },
    { clock: systemClock, timeoutMs: 30_000 },
  );
  await assert.rejects(
    createCluster(dead).readSecret({ namespace, name: 'x' }, signal),
    refused(
      'Unavailable',
      /no usable answer from the Kubernetes API server to .*: it refused the connection \(ECONNREFUSED\)/,
    ),
  );
  await dead.close();
});

test('a lease is created, contended and released with times that the server accepts', async () => {
  const store = createLeaseStore(
    transport,
    { namespace: world.operatorNamespace, name: world.leaseName },
    30_000,
  );
  assert.equal(await store.read(signal), undefined);
  const at = Date.parse('2026-11-21T10:00:00.123Z');
  const record = { holder: 'a', durationMs: 15_000, acquiredAt: at, renewedAt: at, transitions: 0 };
  const created = await store.create(record, signal);
  await assert.rejects(store.create(record, signal), refused('AlreadyExists', /exists already/));
  const renewed = await store.replace(created.resourceVersion, { ...record, renewedAt: at + 1 }, signal);
  assert.notEqual(renewed.fingerprint, created.fingerprint);
  assert.equal(renewed.acquiredAt, at);
  await assert.rejects(
    store.replace(created.resourceVersion, record, signal),
    refused('Conflict', /changed/),
  );
  const released = await store.replace(renewed.resourceVersion, { ...record, holder: '' }, signal);
  assert.equal(released.holder, '');
});

test('an event is written and counted up', async () => {
  await applyStaticExport('noted');
  const object = await cluster.readStaticExport({ namespace, name: 'noted' }, signal);
  assert.ok(object);
  const store = createEventStore(transport, 'host_1');
  const at = Date.parse('2026-11-21T10:00:00Z');
  const name = await store.create(
    {
      regarding: object.metadata,
      type: 'Warning',
      reason: 'JobFailed',
      message: `it failed: ${'ж'.repeat(900)}`,
      at,
      suffix: 'aa',
    },
    signal,
  );
  await store.count({ namespace, name, count: 4, at: at + 1000 }, signal);
  const { stdout } = await world.kubectl([
    'get',
    'events.events.k8s.io',
    name,
    '-n',
    namespace,
    '-o',
    'json',
  ]);
  const event = JSON.parse(stdout);
  assert.equal(event.series.count, 4);
  assert.equal(event.regarding.uid, object.metadata.uid);
});

test('the reflector finds existing, new, changed and deleted objects; a status wakes no key', async () => {
  await applyStaticExport('seen-1');
  const wakes: string[] = [];
  const stop = new AbortController();
  const reflector = createReflector({
    transport,
    resource: staticExports,
    namespace,
    keep: (object) => object,
    clock: systemClock,
    random: systemRandom,
    wake: (key) => wakes.push(key),
    report: () => {},
  });
  const running = reflector.run(stop.signal);
  const awaitWake = (key: string) =>
    eventually(`a wake for ${key}`, () => (wakes.includes(`${namespace}/${key}`) ? true : undefined), {
      timeoutMs: 120_000,
      everyMs: 10,
    });
  await awaitWake('seen-1');
  assert.equal(reflector.isSynced(), true);
  await applyStaticExport('seen-2');
  await awaitWake('seen-2');

  wakes.length = 0;
  const object = await cluster.readStaticExport({ namespace, name: 'seen-1' }, signal);
  assert.ok(object);
  const written = await cluster.writeStatus(object, { observedGeneration: 1 }, signal);
  await eventually('the status in the cache', () => {
    const cached = reflector.cache.get(`${namespace}/seen-1`);
    return cached?.metadata.resourceVersion === written.metadata.resourceVersion ? true : undefined;
  });
  assert.deepEqual(wakes, []);
  await world.kubectl(['annotate', 'sx', 'seen-1', '-n', namespace, 'staticexport.dev/requestedAt=t1']);
  await awaitWake('seen-1');
  await applyStaticExport('seen-2', { schedule: '0 3 * * *' });
  await awaitWake('seen-2');
  wakes.length = 0;
  await world.kubectl(['delete', 'sx', 'seen-2', '-n', namespace]);
  await awaitWake('seen-2');
  assert.equal(reflector.cache.get(`${namespace}/seen-2`), undefined);

  // The server goes away and comes back: what happened meanwhile is not lost.
  await world.restartApiServer('SIGKILL');
  await applyStaticExport('seen-3');
  await awaitWake('seen-3');
  stop.abort();
  await running;
  assert.equal(reflector.missedChanges(), 0);
});
