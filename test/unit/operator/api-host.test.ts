// The host that a resource's calls go to, from whatever its spec may hold, and the lane it waits in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiHostOf, laneOfHost } from '../../../src/operator/api-host.ts';

const baseUrl = (url: unknown) => ({ api: { baseUrl: url } });

for (const [what, spec, host] of [
  ['a base URL', baseUrl('https://api.example.com:8443/prefix'), 'api.example.com:8443'],
  ['one without a port', baseUrl('https://api.example.com'), 'api.example.com:443'],
  ['one without TLS', baseUrl('http://api.example.com'), 'api.example.com:80'],
  ['an address', baseUrl('https://[::1]:8443'), '[::1]:8443'],
  ['none', { api: {} }, ''],
  ['no URL', baseUrl('nonsense'), ''],
  ['a URL without a host', baseUrl('data:text'), ''],
  ['another type', baseUrl(7), ''],
  ['no spec', undefined, ''],
  ['a list', [], ''],
] as const) {
  test(`the API of a spec with ${what}`, () => assert.equal(apiHostOf(spec), host));
}

const own = 'https://api.example.com/prefix';
for (const [what, url, lane] of [
  ['no URL', undefined, ''],
  ['the own API', 'https://api.example.com/other', ''],
  ['the own API with its port', 'https://API.example.com:443', ''],
  ['another port of the own host', 'https://api.example.com:8443', 'api.example.com'],
  ['the own host without TLS', 'http://api.example.com', 'api.example.com'],
  ['the own host with a dot', 'https://api.example.com.', 'api.example.com'],
  ['a host with a dot too many', 'https://api.example.com..', '(not allowed)'],
  ['another host', 'https://elsewhere.example.com', '(not allowed)'],
  ['one of many other hosts', 'https://tenant-4711.example.com:8443', '(not allowed)'],
] as const) {
  test(`the lane of ${what} is ${lane || 'that of the own API'}`, () =>
    assert.equal(laneOfHost(apiHostOf(baseUrl(url)), { apiBaseUrl: own, allowedApiHosts: [] }), lane));
}

test('many ports of the hosts on the list make one lane for each host', () => {
  const settings = { apiBaseUrl: undefined, allowedApiHosts: ['one.example.com', '::1'] };
  const urls = ['one.example.com', 'one.example.com.', '[::1]'].flatMap((host) =>
    Array.from({ length: 50 }, (_, port) => `https://${host}:${8000 + port}`),
  );
  const lanes = new Set(urls.map((url) => laneOfHost(apiHostOf(baseUrl(url)), settings)));
  assert.deepEqual([...lanes], ['one.example.com', '[::1]']);
});
