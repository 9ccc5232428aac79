// What the flag may name, and what names become.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPeerName, resolvePeers } from '../../../src/site/peer-addresses.ts';

const accepted = {
  'docs-peers': { host: 'docs-peers', port: undefined },
  'docs-peers.site.svc:9191': { host: 'docs-peers.site.svc', port: 9191 },
  '10.0.0.7:9090': { host: '10.0.0.7', port: 9090 },
  '[fd00::7]:9090': { host: 'fd00::7', port: 9090 },
  '[::1]': { host: '::1', port: undefined },
};
for (const [text, name] of Object.entries(accepted)) {
  test(`${text} names a peer`, () => assert.deepEqual(readPeerName(text), name));
}

for (const text of ['http://a', 'a:0', 'a:65536', 'a:b', 'a/b', 'a b', '::1', 'user@a', '']) {
  test(`${JSON.stringify(text)} names none`, () => assert.throws(() => readPeerName(text), /must be NAME/));
}

test('addresses become origins, each once, with our own admin port where none is given', async () => {
  const names = ['127.0.0.1', '127.0.0.1:9090', '[::1]:7', 'no-such-host.invalid'].map(readPeerName);
  assert.deepEqual(await resolvePeers(names, 9090), ['http://127.0.0.1:9090', 'http://[::1]:7']);
});
