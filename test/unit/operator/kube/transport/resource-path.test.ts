// Paths of the API server, every segment encoded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeAddress,
  leases,
  pathOf,
  pods,
  secrets,
  serverVersion,
  staticExports,
} from '#operator/kube/transport/resource-path.ts';

const rows = [
  [{ resource: secrets, namespace: 'a', name: 'b' }, {}, '/api/v1/namespaces/a/secrets/b'],
  [{ resource: leases, namespace: 'a' }, {}, '/apis/coordination.k8s.io/v1/namespaces/a/leases'],
  [{ resource: staticExports }, { limit: '5' }, '/apis/staticexport.dev/v1alpha1/staticexports?limit=5'],
  [
    { resource: staticExports, namespace: 'a', name: 'b', subresource: 'status' },
    {},
    '/apis/staticexport.dev/v1alpha1/namespaces/a/staticexports/b/status',
  ],
  [
    { resource: secrets, namespace: '../x', name: 'a/b?c' },
    {},
    '/api/v1/namespaces/..%2Fx/secrets/a%2Fb%3Fc',
  ],
  [
    { resource: pods, namespace: 'a', name: 'b:9090', subresource: 'proxy', subpath: 'peers/x y' },
    {},
    '/api/v1/namespaces/a/pods/b%3A9090/proxy/peers/x%20y',
  ],
  [{ resource: serverVersion }, {}, '/version'],
] as const;
for (const [address, query, path] of rows) {
  test(path, () => assert.equal(pathOf(address, query), path));
}

test('a message names the subresource as a role does', () => {
  const address = {
    resource: pods,
    namespace: 'a',
    name: 'b:9090',
    subresource: 'proxy',
    subpath: 'status',
  } as const;
  assert.equal(describeAddress(address), 'pods/proxy "b:9090" in namespace a');
});
