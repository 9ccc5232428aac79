// One rule for all clients: which requests go through a proxy. The expectations are those of curl and Go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxyFor, readProxySettings, requireProxySettings } from '#platform/http/proxy-settings.ts';

const proxy = 'http://proxy.example:3128';
const env = { HTTP_PROXY: proxy, HTTPS_PROXY: 'proxy.example:3129' };

for (const [noProxy, url, isDirect] of [
  ['127.0.0.0/8', 'http://127.0.0.1:8080', true],
  ['10.0.0.0/8,192.168.0.0/16', 'https://192.168.7.1', true],
  ['10.0.0.0/8', 'https://11.0.0.1', false],
  ['10.0.0.0/8', 'https://10.example.com', false],
  ['10.0.0.0/40', 'https://10.0.0.1', false],
  ['fd00::/8', 'https://[fd12::1]:6443', true],
  ['::1', 'http://[::1]:80', true],
  ['[::1]:8080', 'http://[::1]:8080', true],
  ['[::1]:8080', 'http://[::1]:8081', false],
  ['example.com', 'https://a.b.EXAMPLE.com', true],
  ['example.com', 'https://example.com.', true],
  ['example.com', 'https://badexample.com', false],
  ['.example.com', 'https://www.example.com', true],
  ['*.example.com', 'https://www.example.com', true],
  ['EXAMPLE.com:8443', 'https://example.com:8443', true],
  ['example.com:8443', 'https://example.com', false],
  ['example.com:443', 'https://example.com', true],
  [' a.example , b.example c.example', 'https://c.example', true],
  ['*', 'https://example.com', true],
  ['.,:,/8,*x', 'https://example.com', false],
  ['', 'https://example.com', false],
] as const) {
  test(`NO_PROXY="${noProxy}": ${url} goes ${isDirect ? 'direct' : 'through the proxy'}`, () => {
    const found = proxyFor(new URL(url), readProxySettings({ ...env, NO_PROXY: noProxy }));
    const expected = url.startsWith('https') ? 'http://proxy.example:3129' : proxy;
    assert.equal(found, isDirect ? undefined : expected);
  });
}

test('each scheme has its own variable, and an address that is not of an HTTP proxy is refused by its name', () => {
  const https = new URL('https://example.com');
  assert.equal(proxyFor(https, readProxySettings({ HTTP_PROXY: proxy })), undefined);
  for (const bad of ['socks5://h:1', 'http://', 'ftp://h']) {
    assert.throws(() => proxyFor(https, readProxySettings({ HTTPS_PROXY: bad })), {
      code: 'InvalidProxy',
      message: /^HTTPS_PROXY is not the address of an HTTP proxy/,
    });
  }
});

test('lower case counts first, and an empty variable as none', () => {
  const [url, upper, lower] = [
    new URL('https://example.com'),
    'http://upper.example',
    'http://lower.example',
  ];
  for (const [variables, expected] of [
    [{ https_proxy: lower, HTTPS_PROXY: upper }, lower],
    [{ https_proxy: '', HTTPS_PROXY: upper }, upper],
    [{ HTTPS_PROXY: upper, no_proxy: '', NO_PROXY: 'example.com' }, undefined],
    [{ HTTPS_PROXY: upper, no_proxy: 'other.example', NO_PROXY: 'example.com' }, upper],
  ] as const) {
    assert.equal(proxyFor(url, readProxySettings(variables)), expected);
  }
});

test('a program that sends requests ends before the first one, and names the variable that it read', () => {
  for (const [variables, name] of [
    [{ HTTPS_PROXY: 'socks5://h:1' }, 'HTTPS_PROXY'],
    [{ https_proxy: 'socks5://h:1', HTTPS_PROXY: proxy }, 'https_proxy'],
    [{ HTTPS_PROXY: proxy, HTTP_PROXY: 'h:port' }, 'HTTP_PROXY'],
    [{ http_proxy: 'socks5h://h:1' }, 'http_proxy'],
  ] as const) {
    assert.throws(() => requireProxySettings(variables), {
      code: 'InvalidProxy',
      message: `${name} is not the address of an HTTP proxy. Write it as http://HOST:PORT.`,
    });
  }
  assert.equal(requireProxySettings({ HTTPS_PROXY: proxy, https_proxy: '' }).httpsProxy, proxy);
});
