// Which server fetches: each answer of the decision, then the whole agreement under random interleavings.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PeerState, PeerStatus } from '#bundle/peer/peer-request.ts';
import { decideFetch, type FetchStep } from '#server/peers/peers.ts';
import * as fc from '../../../support/properties.ts';

const word = (id: string, state: PeerState): PeerStatus => ({ id, state, receivedBytes: 0 });

const rows: readonly (readonly [string, boolean, readonly PeerStatus[], FetchStep])[] = [
  ['no peer', false, [], 'announce'],
  ['no peer, and the announcement was visible', true, [], 'fetch'],
  ['no peer fetches', false, [word('a', 'none')], 'announce'],
  ['a peer has it', false, [word('a', 'none'), word('z', 'have')], 'copy'],
  ['a peer has it while another fetches', true, [word('a', 'fetching'), word('z', 'have')], 'copy'],
  ['a peer fetches', false, [word('z', 'fetching')], 'wait'],
  ['a peer fetches although this server announced', true, [word('z', 'fetching')], 'wait'],
  ['a peer announced', false, [word('z', 'claiming')], 'wait'],
  ['both announced and the peer has the lower id', true, [word('a', 'claiming')], 'wait'],
  ['both announced and this server has the lower id', true, [word('z', 'claiming')], 'hold'],
];

for (const [when, isAnnounced, words, step] of rows) {
  test(`${when}: ${step}`, () => assert.equal(decideFetch('m', isAnnounced, words), step));
}

interface Server {
  readonly id: string;
  state: PeerState;
}

/** One server that wants the bundle; each `yield` is a moment at which others may go on. */
function* live(self: Server, all: readonly Server[], downloads: string[]): Generator<void> {
  for (;;) {
    const isAnnounced = self.state === 'claiming';
    const words: PeerStatus[] = [];
    for (const other of all.filter((one) => one !== self)) {
      words.push(word(other.id, other.state));
      yield;
    }
    const step = decideFetch(self.id, isAnnounced, words);
    if (step === 'announce') self.state = 'claiming';
    if (step === 'wait') self.state = 'none';
    if (step === 'copy') break;
    if (step === 'fetch') {
      self.state = 'fetching';
      downloads.push(self.id);
      for (let piece = 0; piece < 5; piece += 1) yield;
      break;
    }
    yield;
  }
  self.state = 'have';
}

test('however their rounds interleave, servers that want the same bundle download it once', () => {
  const starts = fc.array(fc.nat(40), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(starts, fc.infiniteStream(fc.nat(1000)), (delays, turns) => {
      const all = delays.map((_, at): Server => ({ id: `server-${at}`, state: 'none' }));
      const downloads: string[] = [];
      const running = new Map(all.map((self) => [self, live(self, all, downloads)]));
      let moments = 0;
      for (const turn of turns) {
        if (running.size === 0) break;
        assert.ok(moments < 20_000, 'they never agree');
        const ready = [...running].filter(([self]) => (delays[all.indexOf(self)] ?? 0) <= moments);
        const [self, life] = ready[turn % Math.max(1, ready.length)] ?? [];
        moments += 1;
        if (self !== undefined && life?.next().done) running.delete(self);
      }
      assert.equal(downloads.length, 1, downloads.join());
    }),
    { numRuns: 500 },
  );
});
