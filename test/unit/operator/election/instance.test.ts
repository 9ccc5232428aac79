// Two installations share a cluster and no resource.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectInstance, selectorOf } from '#operator/election/instance.ts';
import type { Cluster } from '#platform/wire/cluster.ts';

const never = new AbortController().signal;
const key = { namespace: 'ns', name: 'docs' };
const unused = async () => assert.fail('not asked for');
const clusterWith = (labels: Readonly<Record<string, string>>): Cluster => ({
  readStaticExport: async () => ({
    metadata: { ...key, uid: 'u', resourceVersion: '1', annotations: {}, labels, ownerReferences: [] },
    spec: {},
    status: {},
  }),
  readSecret: unused,
  readConfigMap: unused,
  applySecret: unused,
  applyConfigMap: unused,
  editDocument: unused,
  writeStatus: unused,
});

const rows = [
  [undefined, {}, true],
  [undefined, { 'staticexport.dev/instance': 'blue' }, false],
  ['blue', {}, false],
  ['blue', { 'staticexport.dev/instance': 'blue' }, true],
  ['blue', { 'staticexport.dev/instance': 'green' }, false],
] as const;
for (const [instance, labels, isOurs] of rows) {
  test(`instance ${instance ?? 'without a name'} ${isOurs ? 'sees' : 'does not see'} ${JSON.stringify(labels)}`, async () => {
    const found = await selectInstance(clusterWith(labels), instance).readStaticExport(key, never);
    assert.equal(found !== undefined, isOurs);
  });
}

test('the label selector selects the same resources', () => {
  assert.equal(selectorOf(undefined), '!staticexport.dev/instance');
  assert.equal(selectorOf('blue'), 'staticexport.dev/instance=blue');
});
