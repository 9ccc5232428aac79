// Where a key may go. A table of the tricks with which a URL looks like another host than it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedHosts, isAllowedHost } from '../../../src/loop/allowed-host.ts';

const listed = {
  allowedApiHosts: ['api.example.com', '::1'],
  apiBaseUrl: 'https://other.example.com/prefix',
};
const unlisted = { allowedApiHosts: [], apiBaseUrl: 'https://other.example.com/prefix' };

const rows: readonly (readonly [string, typeof listed | typeof unlisted, boolean])[] = [
  ['https://api.example.com', listed, true],
  ['https://api.example.com:8443/prefix', listed, true],
  ['https://API.Example.COM.', listed, true],
  ['http://[::1]:8080', listed, true],
  ['https://other.example.com', listed, true],
  ['https://other.example.com', unlisted, true],
  ['https://api.example.com', unlisted, false],
  ['https://api.example.com.evil.test', listed, false],
  ['https://evil.test/api.example.com', listed, false],
  ['https://api.example.com@evil.test', listed, false],
  ['https://user:pass@api.example.com', listed, false],
  ['https://sub.api.example.com', listed, false],
  ['ftp://api.example.com', listed, false],
  ['api.example.com', listed, false],
  ['', listed, false],
];

for (const [baseUrl, settings, isAllowed] of rows) {
  const list = settings === listed ? 'a list' : 'no list';
  test(`${JSON.stringify(baseUrl)} with ${list} is ${isAllowed ? 'allowed' : 'not allowed'}`, () => {
    assert.equal(isAllowedHost(baseUrl, settings), isAllowed);
  });
}

test('the host of its own base URL is named once, first, and a list without one stands alone', () => {
  const hosts = ['api.example.com', 'other.example.com'];
  const { apiBaseUrl } = listed;
  assert.deepEqual(allowedHosts({ allowedApiHosts: hosts, apiBaseUrl }), [
    'other.example.com',
    'api.example.com',
  ]);
  assert.deepEqual(allowedHosts({ allowedApiHosts: hosts, apiBaseUrl: undefined }), hosts);
});

test('without a list and without a base URL of its own the operator sends a key nowhere', () => {
  assert.equal(
    isAllowedHost('https://api.example.com', { allowedApiHosts: [], apiBaseUrl: undefined }),
    false,
  );
});
