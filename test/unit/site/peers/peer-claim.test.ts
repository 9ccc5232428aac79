// Who fetches: each answer of the decision, and then the whole agreement, with every interleaving that chance finds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PeerState, PeerWord } from '../../../../src/bundle/peer/peer-request.ts';
import { type ClaimStep, decideClaim } from '../../../../src/site/peers/peer-claim.ts';

const word = (id: string, state: PeerState): PeerWord => ({ id, state, receivedBytes: 0 });

const rows: readonly (readonly [string, boolean, readonly PeerWord[], ClaimStep])[] = [
  ['nobody is there', false, [], 'claim'],
  ['nobody is there, and our claim has been seen', true, [], 'fetch'],
  ['nobody is at it', false, [word('a', 'none')], 'claim'],
  ['somebody has it', false, [word('a', 'none'), word('z', 'have')], 'take'],
  ['somebody has it while others are at it', true, [word('a', 'fetching'), word('z', 'have')], 'take'],
  ['somebody is at it', false, [word('z', 'fetching')], 'wait'],
  ['somebody is at it already although we claim', true, [word('z', 'fetching')], 'wait'],
  ['somebody claims before us', false, [word('z', 'claiming')], 'wait'],
  ['both claim and the other is first', true, [word('a', 'claiming')], 'wait'],
  ['both claim and we are first', true, [word('z', 'claiming')], 'hold'],
];

for (const [when, isClaiming, words, step] of rows) {
  test(`${when}: ${step}`, () => assert.equal(decideClaim('m', isClaiming, words), step));
}

interface Server {
  readonly id: string;
  state: PeerState;
}

/** One server that wants the bundle; each `yield` is a moment at which others may go on. */
function* live(self: Server, all: readonly Server[], downloads: string[]): Generator<void> {
  for (;;) {
    const isClaiming = self.state === 'claiming';
    const words: PeerWord[] = [];
    for (const other of all.filter((one) => one !== self)) {
      words.push(word(other.id, other.state));
      yield;
    }
    const step = decideClaim(self.id, isClaiming, words);
    if (step === 'claim') self.state = 'claiming';
    if (step === 'wait') self.state = 'none';
    if (step === 'take') break;
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

test('however their looks interleave, servers that want the same bundle are one download', () => {
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
