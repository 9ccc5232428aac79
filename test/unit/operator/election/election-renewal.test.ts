// Renewals whose answer does not come, or that meet somebody else's touch: the API server is well, and its lease is kept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from './electing-replicas.ts';

const chances = [0, 0.25, 0.5, 0.75, 0.999];

test('a renewal whose answer was lost is found at the next read', async () => {
  const { clock, first, second } = world();
  await clock.pass(5_000);
  first.network = 'answers-lost';
  await clock.pass(3_000);
  first.network = 'up';
  await clock.pass(60_000);
  assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
});

for (const chance of chances) {
  test(`a renewal that was stored and never answered costs no lease: chance ${chance}`, async () => {
    const { clock, server, first, second } = world();
    first.chance = chance;
    await clock.pass(5_000);
    const before = server.lease?.resourceVersion;
    first.network = 'stalled';
    while (server.lease?.resourceVersion === before) await clock.pass(100);
    first.network = 'up';
    await clock.pass(60_000);
    assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
  });
}

for (const everyMs of [500, 2_000, 3_000]) {
  test(`a foreign edit of the lease every ${everyMs} ms does not end leadership`, async () => {
    const { clock, server, first, second } = world();
    await clock.pass(5_000);
    for (let passedMs = 0; passedMs < 300_000; passedMs += everyMs) {
      server.touch();
      await clock.pass(everyMs);
    }
    assert.deepEqual([first.isWorking, second.isWorking], [true, false]);
  });
}

test('no renewal is sent in the moment before the lease is lost, because its answer would come too late', async () => {
  const { clock, server, first } = world();
  first.earlyMs = 1;
  await clock.pass(5_000);
  const before = server.lease?.fingerprint;
  while (server.lease?.fingerprint === before) await clock.pass(1);
  first.network = 'down';
  await clock.pass(9_950);
  assert.equal(first.isHeld(), true);
  const last = server.lease?.fingerprint;
  first.network = 'stalled';
  await clock.pass(6_000);
  assert.match(String(await first.ended), /leadership was lost/);
  assert.equal(server.lease?.fingerprint, last);
});
