// The audit of a watch: changes that only a list finds are counted and lead to a list; changes on their way are not counted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { settle } from '../../../../support/stepped-clock.ts';
import { object, startReflector, take } from '../fake-server.ts';

const bookmark = ({ last }: ReturnType<typeof startReflector>) => last().send('BOOKMARK', object('', 50));

/** Lets time pass with a bookmark a minute, as a live server sends them. */
async function live(world: ReturnType<typeof startReflector>, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await world.clock.pass(60_000);
    await bookmark(world);
  }
}

test('what no watch brought is found by an audit, counted, and woken', async () => {
  const world = startReflector((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  take(world.wakes);
  world.server.objects = [object('a', 9, 2)];
  await live(world, 22);
  assert.equal(world.reflector.missedChanges(), 1);
  assert.deepEqual(take(world.wakes), ['ns/a']);
});

test('an audit that finds its pages too large asks for smaller ones, and finds what no watch brought', async () => {
  const world = startReflector((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  take(world.wakes);
  world.server.fits = (items) => items.length <= 100;
  world.server.objects = Array.from({ length: 300 }, (_, index) => object(`x${index}`, index));
  await live(world, 22);
  assert.equal(world.reflector.missedChanges(), 301);
  assert.equal(take(world.wakes).length, 301);
  assert.equal(world.reflector.cache.size, 300);
  assert.deepEqual(world.troubles, [undefined]);
});

test('watches that end in order every few minutes do not put the audit off', async () => {
  const world = startReflector((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  world.server.objects = [object('a', 9, 2)];
  for (let turn = 0; turn < 5; turn += 1) {
    await live(world, 5);
    await world.last().end();
    await world.clock.pass(1_000);
  }
  assert.equal(world.reflector.missedChanges(), 1);
});

test('an audit does not count what the watch was about to bring', async () => {
  const world = startReflector((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  take(world.wakes);
  // The audit after 20 minutes sees the change first; its event follows within the grace.
  await live(world, 19);
  world.server.objects = [object('a', 9, 2)];
  await world.clock.pass(60_500);
  await world.last().send('MODIFIED', object('a', 9, 2));
  await live(world, 2);
  assert.equal(world.server.lists, 2);
  assert.equal(world.reflector.missedChanges(), 0);
  assert.equal(world.server.streams.length, 1);
});

test('nor what the watch has brought since in a newer version than the one that was listed', async () => {
  const world = startReflector((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  await live(world, 19);
  world.server.objects = [object('a', 9, 2)];
  await world.clock.pass(60_500);
  assert.equal(world.server.lists, 2);
  world.server.objects = [object('a', 12, 3)];
  await world.last().send('MODIFIED', object('a', 12, 3));
  await live(world, 2);
  assert.equal(world.server.lists, 2);
  assert.equal(world.reflector.missedChanges(), 0);
  assert.equal(world.server.streams.length, 1);
});

test('an audit that is answered does not vouch for a watch that is silent', async () => {
  const world = startReflector();
  await settle();
  await live(world, 19);
  await world.clock.pass(50_000);
  await world.last().send('BOOKMARK', object('', 51));
  // The audit comes ten seconds later; the watch has said nothing since.
  await world.clock.pass(69_999);
  assert.equal(world.server.lists, 2);
  assert.equal(world.server.streams.length, 1);
  await world.clock.pass(1_500);
  assert.equal(world.server.streams.length, 2);
});

test('what an audit found is listed even if an event comes in the moment of its finding', async () => {
  const chance = { next: (): void => {} };
  const world = startReflector(
    (one) => {
      one.objects = [object('a', 1)];
    },
    () => {
      chance.next();
      return 0.5;
    },
  );
  await settle();
  take(world.wakes);
  world.server.objects = [object('a', 9, 2)];
  await live(world, 19);
  await world.clock.pass(60_500);
  await world.last().send('BOOKMARK', object('', 51));
  // The next audit is planned while this one ends the watch.
  chance.next = () => void world.last().send('ADDED', object('b', 12));
  await world.clock.pass(15_000);
  assert.equal(world.reflector.missedChanges(), 1);
  assert.deepEqual(take(world.wakes), ['ns/a']);
  assert.equal(world.server.lists, 3);
});

test('an audit that may not list is reported once while the watch continues, and retried', async () => {
  const world = startReflector((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  const listedAt = world.reflector.auditedAt();
  assert.equal(listedAt, world.clock.now());
  world.server.failList = new ClusterError('Forbidden', 'may not list');
  for (let turn = 0; turn < 8; turn += 1) {
    await live(world, 8);
    await world.last().end();
    await world.clock.pass(1_000);
  }
  assert.deepEqual(world.troubles, [undefined, 'Forbidden']);
  assert.equal(world.reflector.trouble()?.message, 'may not list');
  // The watch itself is not refused.
  assert.equal(world.reflector.isRefused(), false);
  assert.equal(world.reflector.auditedAt(), listedAt);
  world.server.failList = undefined;
  await live(world, 4);
  assert.deepEqual(world.troubles, [undefined, 'Forbidden', undefined]);
  assert.ok((world.reflector.auditedAt() ?? 0) > world.clock.now() - 4 * 60_000);
  assert.equal(world.reflector.missedChanges(), 0);
});

test('an audit that is stopped with its watch is no trouble', async () => {
  const world = startReflector();
  await settle();
  await live(world, 19);
  await world.clock.pass(60_500);
  assert.equal(world.server.lists, 2);
  await world.last().end();
  await world.clock.pass(30_000);
  assert.deepEqual(world.troubles, [undefined]);
});
