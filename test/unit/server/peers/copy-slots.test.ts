// Which client gets a slot for a copy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCopySlots } from '#server/peers/peer-port.ts';

const isPeer = (address: string): boolean => address.startsWith('peer');
const limits = { atOnce: 4, perAddress: 2 };

test('slots are bounded by address and in all, for the servers of the site and for others apart', () => {
  const take = createCopySlots(limits, isPeer);
  const given = (address: string): boolean => take(address) !== undefined;
  assert.deepEqual(['a', 'a', 'a', 'b', 'c', 'd'].map(given), [true, true, false, true, true, false]);
  assert.deepEqual(['peer1', 'peer1', 'peer1', 'peer2', 'peer3'].map(given), [true, true, false, true, true]);
  assert.equal(given('peer4'), false);
});

test('a slot that is given back can be taken again, by another address too', () => {
  const take = createCopySlots({ atOnce: 1, perAddress: 1 }, isPeer);
  for (const address of ['a', 'a', 'b', 'peer1', 'peer2']) {
    const giveBack = take(address);
    assert.ok(giveBack !== undefined, address);
    assert.equal(take(address), undefined);
    giveBack();
  }
});

test('a slot goes back to where it was taken from, though the address became a peer meanwhile', () => {
  const peers = new Set<string>();
  const take = createCopySlots({ atOnce: 1, perAddress: 1 }, (address) => peers.has(address));
  const giveBack = take('a');
  peers.add('a');
  const second = take('a');
  assert.ok(giveBack !== undefined && second !== undefined);
  giveBack();
  assert.equal(take('a'), undefined, 'the slot of a peer was given back');
  assert.notEqual(take('b'), undefined);
});
