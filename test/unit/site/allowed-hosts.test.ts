// Hosts from which a site may load: how they are written, and which loads they allow.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowsHost, readAllowedHost } from '#site/allowed-hosts.ts';

const hosts: readonly (readonly [string, string | undefined])[] = [
  ['cdn.example.com', 'cdn.example.com'],
  ['CDN.Example.com', 'cdn.example.com'],
  ['cdn.example.com:8443', 'cdn.example.com:8443'],
  ['cdn.example.com:443', 'cdn.example.com'],
  ['cdn.example.com:80', 'cdn.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['*.example.com', '*.example.com'],
  ['[::1]', '[::1]'],
  ['https://cdn.example.com', undefined],
  ['cdn.example.com/a', undefined],
  ['user@cdn.example.com', undefined],
  ['*', '*'],
  ['**', undefined],
  ['*.*', undefined],
  ['', undefined],
];
for (const [written, read] of hosts) {
  test(`the host ${JSON.stringify(written)} is read as ${read}`, () =>
    assert.equal(readAllowedHost(written), read));
}

test('a host allows itself alone, and a wildcard the hosts below it', () => {
  const allows = (one: string, host: string): boolean => allowsHost([one], host);
  assert.deepEqual(
    [
      allows('example.com', 'example.com'),
      allows('example.com', 'a.example.com'),
      allows('example.com', 'notexample.com'),
      allows('example.com', 'example.com:8443'),
      allows('*.example.com', 'a.b.example.com'),
      allows('*.example.com', 'example.com'),
      allows('*.example.com', 'notexample.com'),
      allows('*', 'notexample.com:8443'),
    ],
    [true, false, false, false, true, false, false, true],
  );
});
