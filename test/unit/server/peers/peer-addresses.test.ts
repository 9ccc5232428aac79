// What the flag may name, and what names become.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPeerName, resolvePeers, trackPeers } from '#server/peers/peer-addresses.ts';

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

test('addresses become origins, each once, with this server’s admin port by default', async () => {
  const names = ['127.0.0.1', '127.0.0.1:9090', '[::1]:7', 'no-such-host.invalid'].map(readPeerName);
  assert.deepEqual(await resolvePeers(names, 9090), ['http://127.0.0.1:9090', 'http://[::1]:7']);
});

test('a client is a peer by the last resolution; a new one starts a resolution, one at a time and at most every 5 s', async () => {
  let nowMs = 0;
  let looks = 0;
  let origins: readonly string[] = ['http://10.0.0.7:9090', 'http://[fd00::7]:9090'];
  const known = trackPeers(
    async () => {
      looks += 1;
      return origins;
    },
    () => nowMs,
  );
  assert.equal(known.isPeer('10.0.0.7'), false, 'nobody looked yet');
  assert.equal(known.isPeer('10.0.0.7'), false, 'the look is under way');
  assert.equal(looks, 1);
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(known.isPeer('10.0.0.7'), true);
  assert.equal(known.isPeer('fd00::7'), true);
  origins = ['http://10.0.0.8:9090'];
  for (let at = 0; at < 100; at += 1) assert.equal(known.isPeer('10.0.0.8'), false);
  assert.equal(looks, 1);
  nowMs = 5000;
  assert.equal(known.isPeer('10.0.0.8'), false);
  assert.deepEqual(await known.resolve(), origins);
  assert.equal(known.isPeer('10.0.0.8'), true);
  assert.equal(known.isPeer('10.0.0.7'), false);
});
