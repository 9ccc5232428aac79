// Properties of the fake cluster that scenario runs rely on and that one run found broken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeCluster } from './fake-cluster.ts';

const key = { namespace: 'docs', name: 'site' };

test('a late write for a deleted resource is gone when another of its name is created (seed 27)', async () => {
  const cluster = new FakeCluster();
  const { uid } = cluster.create(key, {}).metadata;
  cluster.remove(key);
  const owner = { apiVersion: 'v1', kind: 'Any', name: key.name, uid, controller: true };
  await cluster.applySecret({
    metadata: { ...key, labels: {}, annotations: {}, ownerReferences: [owner] },
    readVersion: undefined,
    data: {},
  });
  assert.ok(await cluster.readSecret(key));
  cluster.create(key, {});
  assert.equal(await cluster.readSecret(key), undefined);
});
