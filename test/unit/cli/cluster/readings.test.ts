// Reads around a StaticExport that are refused, partly refused, or answered by something else than expected.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMetadata } from '#cli/cluster/object-metadata.ts';
import { findOperators, readLease } from '#cli/cluster/operators.ts';
import { attempt, createReadLimit, isReadable } from '#cli/cluster/reading.ts';
import { readServerStatus, type Server } from '#cli/cluster/servers.ts';
import { readPod } from '#cli/cluster/workloads.ts';
import { secrets } from '#operator/kube/transport/resource-path.ts';
import type { Call, Transport } from '#operator/kube/transport/transport.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';

const { signal } = new AbortController();
const metadata = { name: 'x', namespace: 'ops', uid: 'u', resourceVersion: '1' };
const forbidden = new ClusterError('Forbidden', 'you have no permission');

function clientWith(answer: (call: Call) => unknown): { transport: Transport; signal: AbortSignal } {
  const transport: Transport = {
    call: async (call) => answer(call),
    stream: async () => {
      throw forbidden;
    },
    close: async () => {},
  };
  return { transport, signal };
}

const container = { name: 'operator', image: 'sx:0.1.0', args: ['operator'] };
const deployments = {
  metadata: {},
  items: [
    {
      metadata,
      spec: { selector: { matchLabels: { app: 'sx' } }, template: { spec: { containers: [container] } } },
    },
    // Its pods cannot be told from others.
    { metadata, spec: { selector: {}, template: { spec: { containers: [container] } } } },
  ],
};

test('a user who may read one namespace finds the operator there', async () => {
  const client = clientWith(({ address }) => {
    if (address.namespace !== 'ops') throw forbidden;
    return deployments;
  });
  const found = await findOperators(client, ['other', 'ops', 'ops']);
  assert.ok(isReadable(found));
  assert.equal(found.isComplete, false);
  assert.deepEqual(
    found.value.map(({ lease }) => lease),
    [{ namespace: 'ops', name: 'static-export-operator' }],
  );
  const all = await findOperators(
    clientWith(() => deployments),
    [],
  );
  assert.deepEqual(all, { value: found.value, isComplete: true });
  const none = await findOperators(client, ['other']);
  assert.deepEqual(none, { code: 'Forbidden', unreadable: 'you have no permission' });
});

test('a lease without times reads as one that was never renewed', async () => {
  const key = { namespace: 'ops', name: 'sx' };
  const read = (spec: object) =>
    readLease(
      clientWith(() => ({ metadata, spec })),
      key,
    );
  assert.equal((await read({}))?.renewedAt, undefined);
  const lease = await read({ holderIdentity: 'pod-1_0a\u202e', renewTime: '2026-11-23T12:00:00.123456Z' });
  assert.deepEqual([lease?.pod, lease?.holder], ['pod-1', 'pod-1_0a\\u{202e}']);
  assert.equal(lease?.renewedAt, Date.parse('2026-11-23T12:00:00.123Z'));
});

const spec = { containers: [{ name: 's', args: ['bundle-server'] }] };
const pod = readPod({
  metadata: { ...metadata, annotations: {}, labels: {}, ownerReferences: [] },
  spec,
  status: undefined,
});
const server: Server = { pod, container: 's', adminPort: 9090, imageVersion: undefined };
const status = {
  active: { version: 'v\u0007', digest: 'd' },
  source: { kind: 'link', state: 'in-sync', reason: 'served', published: null, lastError: null },
};

test("a server's status is read through the API server, and its text is printable", async () => {
  const calls: Call[] = [];
  const client = clientWith((call) => {
    calls.push(call);
    return status;
  });
  assert.equal((await readServerStatus(client, server)).active?.version, 'v\\u{7}');
  assert.deepEqual(
    calls.map(({ address }) => [address.name, address.subresource, address.subpath]),
    [['x:9090', 'proxy', 'status']],
  );
});

test('a pod that answers with something else has no readable status', async () => {
  for (const answer of [undefined, 'text', {}, { active: 1 }, { ...status, source: null }]) {
    const read = await attempt(
      readServerStatus(
        clientWith(() => answer),
        server,
      ),
    );
    assert.ok(!isReadable(read));
    assert.match(
      read.unreadable,
      /port 9090 of pod ops\/x does not answer with the status of a bundle server/,
    );
  }
});

test('a command that is stopped ends, and a bug is not hidden as a refusal', async () => {
  const aborted = new ClusterError('Aborted', 'stopped');
  await assert.rejects(attempt(Promise.reject(aborted)), aborted);
  await assert.rejects(attempt(Promise.reject(new TypeError('a bug'))), TypeError);
});

test('reads run at once up to their limit, and one that fails gives its place to the next', async () => {
  const limit = createReadLimit(2);
  const started: PromiseWithResolvers<number>[] = [];
  const read = () =>
    limit(() => {
      const one = Promise.withResolvers<number>();
      started.push(one);
      return one.promise;
    });
  const all = Promise.allSettled([read(), read(), read(), read()]);
  await new Promise(setImmediate);
  assert.equal(started.length, 2);
  started[1]?.reject(forbidden);
  await new Promise(setImmediate);
  assert.equal(started.length, 3);
  started[0]?.resolve(0);
  started[2]?.resolve(2);
  await new Promise(setImmediate);
  started[3]?.resolve(3);
  assert.deepEqual(
    (await all).map((one) => (one.status === 'fulfilled' ? one.value : one.reason)),
    [0, forbidden, 2, 3],
  );
});

test('of the annotations of a Secret only those of this project are kept', async () => {
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': '{"stringData":{"apiKey":"svc_secret"}}',
    'staticexport.dev/allow-from': 'docs/docs',
  };
  const client = clientWith(() => ({ metadata: { ...metadata, annotations } }));
  const found = await readMetadata(client, secrets, { namespace: 'ops', name: 'x' });
  assert.deepEqual(found?.metadata.annotations, { 'staticexport.dev/allow-from': 'docs/docs' });
});
