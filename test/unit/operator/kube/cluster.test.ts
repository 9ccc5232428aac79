// Outputs that do not exist yet: created and filled in one request, and never over an object that another client made.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCluster } from '#operator/kube/cluster.ts';
import type { Call, Transport } from '#operator/kube/transport/transport.ts';
import type { AppliedObject } from '#platform/wire/cluster.ts';
import { ClusterError, type ClusterErrorCode } from '#platform/wire/cluster-error.ts';
import { isRecord } from '#platform/wire/json-text.ts';

const never = new AbortController().signal;

const output: AppliedObject = {
  metadata: { namespace: 'docs', name: 'site-bundle', labels: {}, annotations: {}, ownerReferences: [] },
  data: { version: 'v1' },
  readVersion: undefined,
};

/** What a call does, and the version that it requires. */
function describe({ method, body }: Call): string {
  const metadata = isRecord(body) && isRecord(body['metadata']) ? body['metadata'] : {};
  return `${method} ${metadata['resourceVersion'] ?? 'none'}`;
}

function server(...refusals: readonly (ClusterErrorCode | undefined)[]) {
  const calls: string[] = [];
  const transport: Transport = {
    call: async (call) => {
      const refusal = refusals[calls.length];
      calls.push(describe(call));
      if (refusal !== undefined) throw new ClusterError(refusal, 'refused');
      return { metadata: { ...output.metadata, uid: 'u', resourceVersion: '7' }, data: {} };
    },
    stream: () => assert.fail('no stream'),
    close: async () => {},
  };
  return { calls, cluster: createCluster(transport) };
}

const refused = (code: ClusterErrorCode) => (error: unknown) =>
  error instanceof ClusterError && error.code === code;

test('an output that does not exist is created in one request, with a version that no object has', async () => {
  const { calls, cluster } = server();
  await cluster.applyConfigMap(output, never);
  assert.deepEqual(calls, ['PATCH 1']);
});

test('an output that was read is applied over that version only', async () => {
  const { calls, cluster } = server('Conflict');
  const read = { ...output, readVersion: '6', metadata: { ...output.metadata, uid: 'u' } };
  await assert.rejects(cluster.applySecret(read, never), refused('Conflict'));
  assert.deepEqual(calls, ['PATCH 6']);
});

test('where the object exists by now, a create shows it, and nothing is written', async () => {
  const { calls, cluster } = server('Conflict', 'AlreadyExists');
  await assert.rejects(cluster.applySecret(output, never), refused('Conflict'));
  assert.deepEqual(calls, ['PATCH 1', 'POST none']);
});

test('a server that demands an object for each version gets a bare one first', async () => {
  const { calls, cluster } = server('Conflict');
  await cluster.applySecret(output, never);
  assert.deepEqual(calls, ['PATCH 1', 'POST none', 'PATCH 7']);
});

test('where one of two rights is missing, a create shows which', async () => {
  const noCreate = server('Forbidden', 'Forbidden');
  await assert.rejects(noCreate.cluster.applyConfigMap(output, never), refused('Forbidden'));
  assert.deepEqual(noCreate.calls, ['PATCH 1', 'POST none']);
  const noPatch = server('Forbidden', undefined, 'Forbidden');
  await assert.rejects(noPatch.cluster.applyConfigMap(output, never), refused('Forbidden'));
  assert.deepEqual(noPatch.calls, ['PATCH 1', 'POST none', 'PATCH 7']);
});

test('a refusal for another reason creates nothing', async () => {
  const { calls, cluster } = server('Unavailable');
  await assert.rejects(cluster.applyConfigMap(output, never), refused('Unavailable'));
  assert.deepEqual(calls, ['PATCH 1']);
});
