// Rounds with peers that are functions, and time moved by hand: whom it takes from, when it gives up waiting, and
// what it tells the others meanwhile.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { PeerStatus } from '#bundle/peer/peer-request.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { PeerIntent } from '#server/peers/peer-port.ts';
import { createPeers, type Peers } from '#server/peers/peers.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';

const digest = 'd'.repeat(64);

let clock: ManualClock;
let words: Map<string, () => PeerStatus | undefined>;
let takes: string[];
let takeResult: (origin: string) => void;
let intents: (string | undefined)[];
let outcomes: string[];
let peers: Peers;
let stop: AbortController;

beforeEach(() => {
  clock = manualClock(0);
  words = new Map();
  takes = [];
  takeResult = () => {};
  intents = [];
  outcomes = [];
  stop = new AbortController();
  peers = createPeers({
    id: 'me',
    client: {
      ask: async (origin) => words.get(origin)?.(),
      close: async () => {},
    },
    take: async (origin) => {
      takes.push(origin);
      takeResult(origin);
    },
    resolve: async () => [...words.keys()],
    setIntent: (intent: PeerIntent | undefined) => intents.push(intent?.state),
    countCopy: (outcome) => outcomes.push(outcome),
    clock,
    random: { uuid: () => 'copy', bytes: () => new Uint8Array(), fraction: () => 0.5 },
    logger: silentLogger,
  });
});

const says =
  (state: PeerStatus['state'], id = 'other', receivedBytes = 0) =>
  (): PeerStatus => ({ id, state, receivedBytes });

/** Starts, lets that much time pass, and says what came of it so far. */
async function bringFor(ms: number): Promise<boolean | 'waiting' | unknown> {
  let result: unknown = 'waiting';
  peers
    .bring(digest, () => {}, stop.signal)
    .then(
      (isHere) => {
        result = isHere;
      },
      (error: unknown) => {
        result = error;
      },
    );
  await clock.pass(ms);
  return result;
}

const copyNow = (): Promise<boolean> => peers.copy(digest, () => {}, stop.signal);

test('a server without other peers announces its download and starts at once', async () => {
  words.set('self', says('claiming', 'me'));
  assert.equal(await bringFor(0), false);
  assert.deepEqual(intents, ['claiming', 'fetching']);
});

test('it copies from a peer that has the bundle', async () => {
  words.set('a', says('none', 'a'));
  words.set('b', says('have', 'b'));
  assert.equal(await bringFor(0), true);
  assert.deepEqual([takes, outcomes], [['b'], ['ok']]);
});

test('a peer that sends wrong data is skipped for minutes, and the next peer is asked', async () => {
  words.set('liar', says('have', 'liar'));
  words.set('owner', says('have', 'owner'));
  takeResult = (origin) => {
    if (origin === 'liar') throw new PublishableError('CopyRefused', 'lied', { kind: 'refused' });
  };
  assert.equal(await bringFor(0), true);
  assert.deepEqual(
    [takes, outcomes],
    [
      ['liar', 'owner'],
      ['rejected', 'ok'],
    ],
  );
  words.delete('owner');
  takes = [];
  assert.equal(await copyNow(), false);
  assert.deepEqual(takes, []);
  await clock.pass(5 * 60_000);
  assert.equal(await copyNow(), false);
  assert.deepEqual(takes, ['liar']);
});

test('a peer that breaks off is skipped for 5 s, then for twice as long each time, up to 5 min', async () => {
  words.set('owner', says('have', 'owner'));
  takeResult = () => {
    throw new PublishableError('PeerLost', 'gone', { kind: 'retry' });
  };
  for (const skippedMs of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    takes = [];
    assert.equal(await copyNow(), false);
    await clock.pass(skippedMs - 1);
    assert.equal(await copyNow(), false);
    assert.deepEqual(takes, ['owner'], `skipped for ${skippedMs} ms`);
    await clock.pass(1);
  }
  takeResult = () => {};
  assert.equal(await copyNow(), true);
  takeResult = () => {
    throw new PublishableError('PeerLost', 'gone', { kind: 'retry' });
  };
  assert.equal(await copyNow(), false);
  await clock.pass(5_000);
  takeResult = () => {};
  assert.equal(await copyNow(), true);
});

test('a peer that breaks off each copy does not prolong the wait for another without progress', async () => {
  words.set('broken', says('have', 'broken'));
  words.set('slow', says('fetching', 'slow', 7));
  takeResult = () => {
    throw new PublishableError('PeerLost', 'gone', { kind: 'retry' });
  };
  assert.equal(await bringFor(9_000), 'waiting');
  await clock.pass(1_500);
  assert.equal(intents.at(-1), 'fetching');
});

test('a copy is taken without an announcement, and only from a peer that has it', async () => {
  words.set('slow', says('fetching', 'slow'));
  assert.equal(await copyNow(), false);
  words.set('owner', says('have', 'owner'));
  assert.equal(await copyNow(), true);
  assert.deepEqual([takes, intents], [['owner'], []]);
});

test('a peer that has it and stays busy is waited for no longer than 10 s', async () => {
  words.set('busy', says('have', 'busy'));
  takeResult = () => {
    throw new PublishableError('PeerBusy', 'busy', { kind: 'retry' });
  };
  assert.equal(await bringFor(9_000), 'waiting');
  await clock.pass(1_500);
  assert.equal(intents.at(-1), 'fetching');
});

test('a busy peer is asked again, and does not count as a failure', async () => {
  words.set('owner', says('have', 'owner'));
  let times = 0;
  takeResult = () => {
    times += 1;
    if (times < 3) throw new PublishableError('PeerBusy', 'busy', { kind: 'retry' });
  };
  assert.equal(await bringFor(1000), true);
  assert.deepEqual([takes.length, outcomes], [3, ['ok']]);
});

test('a peer without progress is waited for no longer than 10 s', async () => {
  words.set('slow', says('fetching', 'slow', 7));
  assert.equal(await bringFor(9_000), 'waiting');
  await clock.pass(1_500);
  assert.equal(intents.at(-1), 'fetching');
  assert.deepEqual(takes, []);
});

test('a peer with progress is waited for no longer than 5 min', async () => {
  words.set('drip', () => says('fetching', 'drip', clock.monotonic())());
  assert.equal(await bringFor(4 * 60_000), 'waiting');
  await clock.pass(61_000);
  assert.equal(intents.at(-1), 'fetching');
});

test('a full disk is a fault of this server, and no peer is skipped', async () => {
  words.set('owner', says('have', 'owner'));
  takeResult = () => {
    throw new PublishableError('StoreFull', 'full', { kind: 'retry' });
  };
  const error = await bringFor(0);
  assert.ok(error instanceof PublishableError && error.code === 'StoreFull');
  takeResult = () => {};
  assert.equal(await copyNow(), true);
});

test('an abort ends the wait and withdraws the announcement', async () => {
  words.set('slow', says('fetching', 'slow'));
  const reason = new Error('stopped');
  const result = bringFor(1000);
  stop.abort(reason);
  assert.equal(await result, reason);
  assert.equal(intents.at(-1), undefined);
});
