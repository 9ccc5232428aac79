// The host that a resource's calls go to, from whatever its spec may hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiHostOf, laneOfHost } from '../../../src/operator/api-host.ts';

for (const [what, spec, host] of [
  ['a base URL', { api: { baseUrl: 'https://api.example.com:8443/prefix' } }, 'api.example.com:8443'],
  ['none', { api: {} }, ''],
  ['no URL', { api: { baseUrl: 'nonsense' } }, ''],
  ['another type', { api: { baseUrl: 7 } }, ''],
  ['no spec', undefined, ''],
  ['a list', [], ''],
] as const) {
  test(`the API of a spec with ${what}`, () => assert.equal(apiHostOf(spec), host));
}

const settings = { apiBaseUrl: 'https://api.example.com/prefix', allowedApiHosts: [] };
for (const [host, lane] of [
  ['', ''],
  ['api.example.com', 'api.example.com'],
  ['api.example.com:8443', 'api.example.com:8443'],
  ['elsewhere.example.com', '(not allowed)'],
  ['tenant-4711.example.com', '(not allowed)'],
] as const) {
  test(`the lane of ${host || 'the own API'} is ${lane || 'its own'}`, () =>
    assert.equal(laneOfHost(host, settings), lane));
}
