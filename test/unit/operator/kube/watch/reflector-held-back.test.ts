// A proxy that lets a watch open and holds back its events. The reflector lists instead, reports that once, counts missed
// changes, and trusts watches again once one delivers an event.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { settle } from '../../../../support/stepped-clock.ts';
import { object, startReflector, take } from '../fake-server.ts';

type World = ReturnType<typeof startReflector>;

/** Seconds until there is something to see, up to an hour. */
async function secondsUntil({ clock }: World, isSeen: () => boolean): Promise<number> {
  for (let seconds = 0; seconds <= 3_600; seconds += 1) {
    if (isSeen()) return seconds;
    await clock.pass(1_000);
  }
  return assert.fail('not within an hour');
}

/** Ends every watch so long after it was opened. */
async function cutOff(world: World, afterMs: number, error: ClusterError | undefined, minutes: number) {
  const { clock, server } = world;
  const end = clock.now() + minutes * 60_000;
  let isOver = 0;
  while (clock.now() < end) {
    await clock.pass(1_000);
    const openedAt = server.watchedAt.at(-1) ?? 0;
    if (isOver === server.streams.length || clock.monotonic() - openedAt < afterMs) continue;
    isOver = server.streams.length;
    await world.last().end(error);
  }
}

test('a change that no watch brings is found by a list within two and a half minutes', async () => {
  const world = startReflector((one) => {
    one.objects = [object('a', 1)];
  });
  await settle();
  take(world.wakes);
  world.server.objects = [object('a', 9, 2)];
  const seconds = await secondsUntil(world, () => world.wakes.length > 0);
  assert.ok(seconds > 120 && seconds <= 150, `${seconds} s`);
  assert.equal(world.reflector.missedChanges(), 1);
  world.server.objects = [object('a', 10, 3)];
  take(world.wakes);
  assert.ok((await secondsUntil(world, () => world.wakes.length > 0)) <= 150);
});

test('an hour of held-back watches is reported once and keeps readiness; it ends when a watch brings something, not when one opens', async () => {
  const world = startReflector();
  await settle();
  let longestMs = 0;
  for (let second = 0; second < 3_600; second += 1) {
    await world.clock.pass(1_000);
    longestMs = Math.max(longestMs, world.reflector.silenceMs());
  }
  assert.deepEqual(world.troubles, [undefined, 'Unavailable']);
  assert.match(world.reflector.trouble()?.message ?? '', /bring nothing.*proxy/);
  assert.ok(longestMs < 3 * 70_000, `${longestMs} ms`);
  const { length } = world.server.streams;
  await secondsUntil(world, () => world.server.streams.length > length);
  await world.last().send('BOOKMARK', object('', 20));
  assert.deepEqual(world.troubles, [undefined, 'Unavailable', undefined]);
  const { lists } = world.server;
  await world.clock.pass(60_000);
  await world.last().send('BOOKMARK', object('', 21));
  assert.equal(world.server.lists, lists);
});

for (const [how, error] of [
  ['in order', undefined],
  ['with a reset', new ClusterError('Unavailable', 'reset')],
] as const) {
  test(`a proxy that ends every quiet watch ${how} after a minute is reported once or twice`, async () => {
    const world = startReflector((one) => {
      one.objects = [object('a', 1)];
    });
    await settle();
    await cutOff(world, 60_000, error, 30);
    const told = world.troubles.filter((code) => code !== undefined);
    assert.ok(told.length >= 1 && told.length <= 2, `${world.troubles}`);
    assert.equal(world.troubles.filter((code) => code === undefined).length, 1);
    assert.ok(world.server.lists >= 10 && world.server.lists <= 16, `${world.server.lists} lists`);
  });
}

test('a server that restarts a few times causes no other list', async () => {
  const world = startReflector();
  await settle();
  for (const afterMs of [5_000, 20_000, 10_000]) {
    await world.clock.pass(afterMs);
    await world.last().end(new ClusterError('Unavailable', 'reset'));
    await world.clock.pass(4_000);
  }
  await world.last().send('BOOKMARK', object('', 20));
  assert.equal(world.server.lists, 1);
  assert.equal(world.troubles.at(-1), undefined);
});

test('a refusal while watches bring nothing is reported, and after it the held-back watches again', async () => {
  const world = startReflector();
  await settle();
  await world.clock.pass(200_000);
  world.server.failWatch = new ClusterError('Forbidden', 'may not watch');
  await world.clock.pass(200_000);
  assert.equal(world.reflector.isRefused(), true);
  world.server.failWatch = undefined;
  await world.clock.pass(60_000);
  assert.deepEqual(world.troubles, [undefined, 'Unavailable', 'Forbidden', 'Unavailable']);
});
