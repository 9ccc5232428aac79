// Asking a peer over a real socket, with deadlines that the test ends.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { createPeerClient, type PeerClient } from '#bundle/peer/peer-request.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { type Storage, type StorageAnswer, startStorage } from '../../../support/storage-server.ts';

const digest = 'd'.repeat(64);
let client: PeerClient;
let peer: Storage;
let answer: StorageAnswer;
/** Ends every deadline given so far. */
let passDeadlines: () => void;

beforeEach(async () => {
  peer = await startStorage((request, response, count) => answer(request, response, count));
  const deadlines: AbortController[] = [];
  passDeadlines = () => {
    for (const one of deadlines) one.abort(new DOMException('too long', 'TimeoutError'));
  };
  const clock: Clock = {
    ...systemClock,
    deadline: (_ms, parent) => {
      const one = new AbortController();
      deadlines.push(one);
      return parent === undefined ? one.signal : AbortSignal.any([one.signal, parent]);
    },
  };
  client = createPeerClient({ clock, userAgent: 'test' });
});
afterEach(async () => {
  await client.close();
  await peer.close();
});

test('a reply that is late, too long or not a peer’s counts as none; an abort ends the request', async () => {
  const signal = new AbortController().signal;
  const ask = () => client.ask(peer.origin, digest, signal);
  answer = (_request, response) => response.end(JSON.stringify({ id: 'a', state: 'have', receivedBytes: 0 }));
  assert.deepEqual(await ask(), { id: 'a', state: 'have', receivedBytes: 0 });
  for (const text of ['', '{}', '[]', '{"id":"a","state":"odd","receivedBytes":0}', ' '.repeat(2000)]) {
    answer = (_request, response) => response.end(text);
    assert.equal(await ask(), undefined, text);
  }
  answer = () => passDeadlines();
  assert.equal(await ask(), undefined);
  const reason = new Error('stopped');
  await assert.rejects(client.ask(peer.origin, digest, AbortSignal.abort(reason)), reason);
});
