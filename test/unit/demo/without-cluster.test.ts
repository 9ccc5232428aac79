// Which of the two demos `npm run demo` runs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingForCluster } from '../../demo/without-cluster.ts';

const nothing = (): boolean => false;

test('without Go and without KUBEBUILDER_ASSETS it runs without a cluster, and says how to get one', () => {
  for (const env of [{}, { PATH: '/usr/bin:/bin' }, { PATH: '', KUBEBUILDER_ASSETS: '' }]) {
    assert.match(missingForCluster(undefined, env, nothing) ?? '', /Go is not installed.*Go 1\.25/);
  }
});

test('Go in a folder of PATH or where it is usually unpacked, assets, or a context are enough for a cluster', () => {
  const goIn = (folder: string) => (file: string) => file === `${folder}/go`;
  assert.equal(missingForCluster(undefined, { PATH: '/bin:/opt/go/bin' }, goIn('/opt/go/bin')), undefined);
  assert.equal(missingForCluster(undefined, { PATH: '/bin' }, goIn('/usr/local/go/bin')), undefined);
  assert.equal(missingForCluster(undefined, { KUBEBUILDER_ASSETS: '/assets' }, nothing), undefined);
  assert.equal(missingForCluster('kind-kind', {}, nothing), undefined);
});
