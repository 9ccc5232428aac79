// The rate of each client: what it may send at once, how it recovers, and which addresses count as one client.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf, createClientRate, networkOf } from '#operator/webhook/client-rate.ts';
import * as fc from '../../../support/properties.ts';

function startRate(perMinute: number) {
  let now = 0;
  const rate = createClientRate({ monotonic: () => now }, perMinute);
  return {
    take: rate.take,
    giveBack: rate.giveBack,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('a quiet client sends its minute at once, waits, and then sends one more', () => {
  const { take, pass } = startRate(60);
  for (let sent = 0; sent < 60; sent += 1) assert.equal(take('192.0.2.1'), undefined);
  assert.equal(take('192.0.2.1'), 1000);
  assert.equal(take('192.0.2.2'), undefined, 'another client is not limited');
  pass(1000);
  assert.equal(take('192.0.2.1'), undefined);
  assert.equal(take('192.0.2.1'), 1000);
});

test('a request that does not count is given back', () => {
  const { take, giveBack } = startRate(1);
  assert.equal(take('192.0.2.1'), undefined);
  giveBack('192.0.2.1');
  giveBack('192.0.2.1');
  assert.equal(take('192.0.2.1'), undefined);
  assert.notEqual(take('192.0.2.1'), undefined);
});

for (const [named, connected, client] of [
  ['192.0.2.1', '10.0.0.1', '192.0.2.1'],
  ['192.0.2.1:8443', '10.0.0.1', '192.0.2.1'],
  ['[2001:db8::1]:8443', '10.0.0.1', '2001:db8:0:0::/64'],
  ['[2001:db8::1]', '10.0.0.1', '2001:db8:0:0::/64'],
  ['unknown', '10.0.0.1', '10.0.0.1'],
  [`192.0.2.1${'x'.repeat(15_000)}`, '::ffff:10.0.0.1', '10.0.0.1'],
  [undefined, '10.0.0.1', '10.0.0.1'],
  [undefined, undefined, ''],
] as const) {
  test(`${(named ?? 'nothing').slice(0, 30)} from ${connected} is the client ${client}`, () => {
    assert.equal(clientOf(named, connected), client);
  });
}

test('property: in any minute a client sends at most twice its rate', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2000 }), { maxLength: 300 }), (gaps) => {
      const { take, pass } = startRate(30);
      const sent: number[] = [];
      let at = 0;
      for (const gap of gaps) {
        pass(gap);
        at += gap;
        if (take('2001:db8:0:0::/64') === undefined) sent.push(at);
      }
      for (const from of sent)
        assert.ok(sent.filter((one) => one >= from && one < from + 60_000).length <= 60);
    }),
  );
});

test('one IPv6 client has a whole /64, and an IPv4 address is the same in both families', () => {
  assert.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1');
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0::/64');
  assert.equal(networkOf('2001:DB8:0:0:ffff:1:2:3'), '2001:db8:0:0::/64');
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
  assert.notEqual(networkOf('2001:db8:0:1::1'), networkOf('2001:db8::1'));
});

test('the memory for addresses is bounded, and clients that are quiet again are forgotten first', () => {
  const { take, pass } = startRate(1);
  for (let index = 0; index < 9999; index += 1) take(`10.0.${index >> 8}.${index & 255}`);
  pass(60_000);
  assert.equal(take('192.0.2.1'), undefined);
  assert.equal(take('192.0.2.2'), undefined, 'the quiet ones made room');
  assert.notEqual(take('192.0.2.1'), undefined, 'a busy client stays limited');
});
