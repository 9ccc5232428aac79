// What the lives rely on in the fake cluster, where a life once found that it was not so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeCluster } from './fake-cluster.ts';

const key = { namespace: 'docs', name: 'site' };

test('what a late writer makes for a deleted resource is gone when another of its name comes (life 27)', async () => {
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
