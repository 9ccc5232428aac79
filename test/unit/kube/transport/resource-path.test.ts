// Paths of the API server, every segment encoded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leases, pathOf, secrets, staticExports } from '../../../../src/kube/transport/resource-path.ts';

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
] as const;
for (const [address, query, path] of rows) {
  test(path, () => assert.equal(pathOf(address, query), path));
}
