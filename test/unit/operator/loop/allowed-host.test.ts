// Hosts that a key may be sent to. A table of URLs that imitate another host, and of the spellings of one host,
// scheme and port.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedHosts, isAllowedHost } from '#operator/loop/allowed-host.ts';

const own = 'https://other.example.com/prefix';
const listed = {
  allowedApiHosts: [
    'api.example.com',
    'ports.example.com:8443',
    'http://plain.example.com',
    'http://[2001:DB8::1]:8080',
    'b\u00fccher.example',
  ],
  apiBaseUrl: own,
};
const unlisted = { allowedApiHosts: [], apiBaseUrl: own };
const clearText = { allowedApiHosts: [], apiBaseUrl: 'http://export.ops.svc:8080/api' };

const rows: readonly (readonly [string, typeof listed | typeof unlisted, boolean])[] = [
  ['https://api.example.com', listed, true],
  ['https://api.example.com/prefix', listed, true],
  ['https://api.example.com:443', listed, true],
  ['https://API.Example.COM.', listed, true],
  ['HTTPS://api.example.com', listed, true],
  ['http://api.example.com', listed, false],
  ['http://api.example.com:443', listed, false],
  ['https://api.example.com:8443', listed, false],
  ['https://ports.example.com:8443', listed, true],
  ['https://ports.example.com:08443', listed, true],
  ['https://ports.example.com', listed, false],
  ['http://ports.example.com:8443', listed, false],
  ['http://plain.example.com', listed, true],
  ['http://plain.example.com:80', listed, true],
  ['http://plain.example.com:8080', listed, false],
  ['https://plain.example.com', listed, false],
  ['http://[2001:db8:0:0::1]:8080/x', listed, true],
  ['https://[2001:db8::1]:8080', listed, false],
  ['https://xn--bcher-kva.example', listed, true],
  ['https://other.example.com', listed, true],
  ['https://other.example.com', unlisted, true],
  ['http://other.example.com', unlisted, false],
  ['https://other.example.com:8443', unlisted, false],
  ['http://export.ops.svc:8080', clearText, true],
  ['http://export.ops.svc', clearText, false],
  ['https://export.ops.svc:8080', clearText, false],
  ['https://export.ops.svc', clearText, false],
  ['https://api.example.com', unlisted, false],
  ['https://api.example.com.evil.test', listed, false],
  ['https://api.example.com..', listed, false],
  ['https://evil.test/api.example.com', listed, false],
  ['https://api.example.com@evil.test', listed, false],
  ['https://user:pass@api.example.com', listed, false],
  ['https://sub.api.example.com', listed, false],
  ['ftp://api.example.com', listed, false],
  ['api.example.com', listed, false],
  ['', listed, false],
];

const names = new Map([
  [listed, 'a list'],
  [unlisted, 'no list'],
  [clearText, 'a base URL in clear text'],
]);

for (const [baseUrl, settings, isAllowed] of rows) {
  test(`${JSON.stringify(baseUrl)} with ${names.get(settings)} is ${isAllowed ? 'allowed' : 'not allowed'}`, () => {
    assert.equal(isAllowedHost(baseUrl, settings), isAllowed);
  });
}

test('the host of the resource’s base URL is named once and first; without one only the list is named', () => {
  const hosts = ['API.example.com', 'https://other.example.com:443', 'http://api.example.com:80'];
  const named = ['api.example.com', 'other.example.com', 'http://api.example.com'];
  assert.deepEqual(allowedHosts({ allowedApiHosts: hosts, apiBaseUrl: own }), [
    'other.example.com',
    'api.example.com',
    'http://api.example.com',
  ]);
  assert.deepEqual(allowedHosts({ allowedApiHosts: hosts, apiBaseUrl: undefined }), named);
});

test('without a list and a default base URL the operator sends a key to no host', () => {
  assert.equal(
    isAllowedHost('https://api.example.com', { allowedApiHosts: [], apiBaseUrl: undefined }),
    false,
  );
});

test('an entry that cannot be read allows nothing', () => {
  const allowedApiHosts = ['*.example.com', 'api.example.com/prefix', '2001:db8::1', ''];
  for (const baseUrl of ['https://api.example.com', 'https://[2001:db8::1]', 'https://*.example.com']) {
    assert.equal(isAllowedHost(baseUrl, { allowedApiHosts, apiBaseUrl: undefined }), false);
  }
});
