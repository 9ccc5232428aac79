// The host that a resource's calls go to, from whatever its spec may hold, and the host queue it waits in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiHostOf, hostQueueOf } from '#operator/queue/api-host.ts';

const baseUrl = (url: unknown) => ({ api: { baseUrl: url } });

for (const [what, spec, host] of [
  ['a base URL', baseUrl('https://api.example.com:8443/prefix'), 'https://api.example.com:8443'],
  ['one without a port', baseUrl('https://api.example.com'), 'https://api.example.com'],
  ['one without TLS', baseUrl('http://api.example.com'), 'http://api.example.com'],
  ['an address', baseUrl('https://[::1]:8443'), 'https://[::1]:8443'],
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
for (const [what, url, queue] of [
  ['no URL', undefined, ''],
  ['the own API', 'https://api.example.com/other', ''],
  ['the own API with its port', 'https://API.example.com:443', ''],
  ['another port of the own host', 'https://api.example.com:8443', '(not allowed)'],
  ['the own host without TLS', 'http://api.example.com', '(not allowed)'],
  ['the own host with a dot', 'https://api.example.com.', ''],
  ['a host with a dot too many', 'https://api.example.com..', '(not allowed)'],
  ['another host', 'https://elsewhere.example.com', '(not allowed)'],
  ['one of many other hosts', 'https://tenant-4711.example.com:8443', '(not allowed)'],
] as const) {
  test(`the host queue of ${what} is ${queue || "that of the operator's API"}`, () =>
    assert.equal(hostQueueOf(apiHostOf(baseUrl(url)), { apiBaseUrl: own, allowedApiHosts: [] }), queue));
}

test('many ports of the hosts on the list make one host queue for each entry, and one for all others', () => {
  const allowedApiHosts = ['one.example.com:8000', 'one.example.com:8001', 'http://[::1]:8000'];
  const urls = ['https://one.example.com', 'https://one.example.com.', 'http://[::1]'].flatMap((host) =>
    Array.from({ length: 50 }, (_, port) => `${host}:${8000 + port}`),
  );
  const queues = urls.map((url) =>
    hostQueueOf(apiHostOf(baseUrl(url)), { apiBaseUrl: undefined, allowedApiHosts }),
  );
  assert.deepEqual([...new Set(queues)].sort(), [
    '(not allowed)',
    'http://[::1]:8000',
    'https://one.example.com:8000',
    'https://one.example.com:8001',
  ]);
});
