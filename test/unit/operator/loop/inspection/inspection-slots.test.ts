// The queue for inspection slots: never more than the slots, namespaces in turn, no namespace with all slots, and no
// stopped request. An id without a slash is a namespace of its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Slot } from '#operator/loop/inspection/fair-slots.ts';
import { InspectionSlots } from '#operator/loop/inspection/inspection-slots.ts';
import * as fc from '../../../../support/properties.ts';
import { settle } from '../../../../support/virtual-clock.ts';

const never = new AbortController().signal;

const namespaceOf = (id: string): string => id.split('/')[0] ?? '';

/** Takes a slot for the id, and records when it was given. */
function ask(
  places: InspectionSlots,
  id: string,
  served: string[],
  signal = never,
  makesSearch = false,
): Promise<Slot> {
  const place = places.take(id, signal, makesSearch);
  place.then(
    () => served.push(id),
    () => {},
  );
  return place;
}

test('all slots are taken at once, and the queue follows in its order', async () => {
  const places = new InspectionSlots(2);
  const served: string[] = [];
  const [first, second] = ['a', 'b', 'c', 'd'].map((id) => ask(places, id, served));
  await settle();
  assert.deepEqual(served, ['a', 'b']);
  assert.deepEqual([places.taken, places.waiting], [2, 2]);
  assert.equal(places.hasRoom('e'), false);
  (await second)?.release();
  (await first)?.release();
  await settle();
  assert.deepEqual(served, ['a', 'b', 'c', 'd']);
  assert.deepEqual([places.taken, places.waiting], [2, 0]);
});

test('a stopped request leaves the queue at once, and delays no other', async () => {
  const places = new InspectionSlots(1);
  const served: string[] = [];
  const stop = new AbortController();
  const place = await ask(places, 'a', served);
  const stopped = ask(places, 'b', served, stop.signal);
  void ask(places, 'c', served);
  stop.abort(new Error('not wanted any more'));
  assert.equal(places.waiting, 1);
  await assert.rejects(stopped, /not wanted any more/);
  place.release();
  await settle();
  assert.deepEqual(served, ['a', 'c']);
  await assert.rejects(places.take('d', AbortSignal.abort(new Error('stopped before'))), /stopped before/);
  assert.equal(places.taken, 1);
});

test('a slot released twice is given once', async () => {
  const places = new InspectionSlots(1);
  const served: string[] = [];
  const place = await ask(places, 'a', served);
  void ask(places, 'b', served);
  void ask(places, 'c', served);
  place.release();
  place.release();
  await settle();
  assert.deepEqual(served, ['a', 'b']);
  assert.deepEqual([places.taken, places.waiting], [1, 1]);
});

test('a kept slot is only for its resource, before the queue', async () => {
  const places = new InspectionSlots(1);
  const served: string[] = [];
  const place = await ask(places, 'a', served);
  void ask(places, 'b', served);
  places.keep('a', place, never);
  await settle();
  assert.deepEqual([served, places.hasRoom('a'), places.hasRoom('c')], [['a'], true, false]);
  (await ask(places, 'a', served)).release();
  await settle();
  assert.deepEqual(served, ['a', 'a', 'b']);
});

test('a kept slot is released when it is given up, and when its time ends', async () => {
  const endings: readonly ((places: InspectionSlots, end: AbortController) => void)[] = [
    (places) => places.giveUp('a'),
    (_places, end) => end.abort(),
  ];
  for (const finish of endings) {
    const places = new InspectionSlots(1);
    const served: string[] = [];
    const end = new AbortController();
    places.keep('a', await ask(places, 'a', served), end.signal);
    void ask(places, 'b', served);
    finish(places, end);
    await settle();
    assert.deepEqual(served, ['a', 'b']);
    // A later end does not belong to b.
    places.giveUp('a');
    end.abort();
    assert.equal(places.taken, 1);
  }
});

test('a slot is not kept past its time, nor for a resource that took it again', async () => {
  const places = new InspectionSlots(1);
  places.keep('a', await places.take('a', never), AbortSignal.abort());
  assert.equal(places.taken, 0);
  const end = new AbortController();
  places.keep('a', await places.take('a', never), end.signal);
  await places.take('a', never);
  end.abort();
  assert.equal(places.taken, 1, 'it is being read there');
});

test('with two slots a namespace inspects one archive at a time, and another namespace starts at once', async () => {
  const places = new InspectionSlots(2);
  const served: string[] = [];
  const first = ask(places, 'slow/a', served);
  for (const name of ['b', 'c']) void ask(places, `slow/${name}`, served);
  await settle();
  assert.deepEqual([served, places.taken, places.waiting], [['slow/a'], 1, 2]);
  assert.deepEqual([places.hasRoom('slow/d'), places.hasRoom('other/a')], [false, true]);
  void ask(places, 'other/a', served);
  await settle();
  assert.deepEqual(served, ['slow/a', 'other/a']);
  (await first).release();
  await settle();
  assert.deepEqual(served, ['slow/a', 'other/a', 'slow/b']);
  assert.deepEqual([places.taken, places.waiting], [2, 1]);
});

test('the last free slot is only for a namespace that holds none', async () => {
  const places = new InspectionSlots(4);
  const served: string[] = [];
  for (const id of ['a/1', 'a/2', 'b/1', 'a/3', 'b/2']) void ask(places, id, served);
  await settle();
  assert.deepEqual([served, places.taken], [['a/1', 'a/2', 'b/1'], 3]);
  const last = await ask(places, 'c/1', served);
  last.release();
  await settle();
  assert.deepEqual([places.taken, places.waiting], [3, 2], 'it stays free');
});

test('a released slot may start two: another namespace, and the one that released its only slot', async () => {
  const places = new InspectionSlots(3);
  const served: string[] = [];
  const left = ask(places, 'a/1', served);
  for (const id of ['b/1', 'b/2', 'a/2']) void ask(places, id, served);
  await settle();
  assert.deepEqual(served, ['a/1', 'b/1']);
  (await left).release();
  await settle();
  assert.deepEqual(served, ['a/1', 'b/1', 'b/2', 'a/2']);
});

test('namespaces share a single slot in turn, however many archives one of them has waiting', async () => {
  const places = new InspectionSlots(1);
  const served: string[] = [];
  const ids = ['a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'b/2', 'c/1'];
  const asked = ids.map((id) => ask(places, id, served));
  for (let count = 1; count <= ids.length; count += 1) {
    await settle();
    assert.equal(served.length, count);
    const at = ids.indexOf(served.at(-1) ?? '');
    (await asked[at])?.release();
  }
  assert.deepEqual(served, ['a/1', 'a/2', 'b/1', 'c/1', 'a/3', 'b/2', 'a/4']);
});

test('a kept slot counts for its namespace', async () => {
  const places = new InspectionSlots(2);
  const served: string[] = [];
  places.keep('a/1', await ask(places, 'a/1', served), never);
  void ask(places, 'a/2', served);
  await settle();
  assert.deepEqual([served, places.hasRoom('a/2'), places.hasRoom('a/1')], [['a/1'], false, true]);
  places.giveUp('a/1');
  await settle();
  assert.deepEqual(served, ['a/1', 'a/2']);
});

test('one search is made at a time, and one that waits holds no slot', async () => {
  const places = new InspectionSlots(3);
  const served: string[] = [];
  const [first] = ['a/1', 'a/2', 'b/1', 'c/1'].map((id) => ask(places, id, served, never, true));
  await settle();
  assert.deepEqual([served, places.taken, places.waiting], [['a/1'], 1, 3]);
  assert.deepEqual([places.hasRoom('d/1', true), places.hasRoom('d/1')], [false, true]);
  await ask(places, 'd/1', served);
  (await first)?.release();
  await settle();
  assert.deepEqual([served, places.taken], [['a/1', 'd/1', 'a/2'], 2]);
});

test('namespaces alternate in making searches', async () => {
  const places = new InspectionSlots(2);
  const served: string[] = [];
  const ids = ['a/1', 'a/2', 'a/3', 'b/1'];
  const asked = ids.map((id) => ask(places, id, served, never, true));
  for (const _id of ids) {
    await settle();
    (await asked[ids.indexOf(served.at(-1) ?? '')])?.release();
  }
  assert.deepEqual(served, ['a/1', 'a/2', 'b/1', 'a/3']);
  assert.deepEqual([places.taken, places.waiting], [0, 0]);
});

test('a search that is stopped while it waits for a slot lets another search go on', async () => {
  const places = new InspectionSlots(1);
  const served: string[] = [];
  const slot = await ask(places, 'a/1', served);
  const stop = new AbortController();
  const stopped = ask(places, 'b/1', served, stop.signal, true);
  void ask(places, 'c/1', served, never, true);
  await settle();
  stop.abort(new Error('not wanted any more'));
  await assert.rejects(stopped, /not wanted any more/);
  slot.release();
  await settle();
  assert.deepEqual([served, places.taken, places.waiting], [['a/1', 'c/1'], 1, 0]);
});

test('a slot that is kept for a search is for a search only', async () => {
  const places = new InspectionSlots(2);
  const served: string[] = [];
  places.keep('a/1', await ask(places, 'a/1', served, never, true), never, true);
  void ask(places, 'b/1', served, never, true);
  await settle();
  assert.deepEqual([served, places.hasRoom('a/1', true)], [['a/1'], true]);
  await ask(places, 'a/1', served);
  await settle();
  assert.deepEqual([served, places.taken], [['a/1', 'a/1', 'b/1'], 2]);
});

test('property: slots are never exceeded, no permitted archive waits, and all are served in order', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('ask' as const), namespace: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constantFrom('leave', 'stop', 'keep', 'again', 'giveUp'), which: fc.nat(50) }),
  );
  return fc.assertAsync(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { maxLength: 60 }),
      async (count, steps) => {
        const places = new InspectionSlots(count);
        const held = new Map<string, Slot>();
        const kept = new Set<string>();
        const waiting = new Map<string, AbortController>();
        const arrived: string[] = [];
        let ids = 0;
        const take = (id: string): void => {
          const stop = new AbortController();
          waiting.set(id, stop);
          places.take(id, stop.signal).then(
            (place) => {
              waiting.delete(id);
              held.set(id, place);
              arrived.push(id);
            },
            () => waiting.delete(id),
          );
        };
        const nth = (ids_: Iterable<string>, which: number): string | undefined => {
          const all = [...ids_];
          return all[which % Math.max(1, all.length)];
        };
        for (const one of steps) {
          if (one.do === 'ask') take(`${one.namespace}/${ids++}`);
          else {
            const id = nth(
              one.do === 'stop'
                ? waiting.keys()
                : one.do === 'leave' || one.do === 'keep'
                  ? held.keys()
                  : kept,
              one.which,
            );
            if (id === undefined) continue;
            const place = held.get(id);
            if (one.do === 'stop') waiting.get(id)?.abort();
            if (one.do === 'leave') place?.release();
            if (one.do === 'keep' && place !== undefined) {
              places.keep(id, place, never);
              kept.add(id);
            }
            if (one.do === 'again') take(id);
            if (one.do === 'giveUp') places.giveUp(id);
            if (one.do === 'leave' || one.do === 'keep') held.delete(id);
            if (one.do === 'again' || one.do === 'giveUp') kept.delete(id);
          }
          await settle();
          assert.equal(places.taken, held.size + kept.size);
          assert.ok(places.taken <= count);
          assert.equal(places.waiting, waiting.size);
          const holders = [...held.keys(), ...kept].map(namespaceOf);
          for (const id of waiting.keys()) {
            const holdsOne = holders.includes(namespaceOf(id));
            assert.ok(count - holders.length <= (holdsOne ? 1 : 0), `${id} waits and may take a slot`);
            assert.equal(places.hasRoom(id), false);
          }
          const mostOfOne = Math.max(
            0,
            ...holders.map((one) => holders.filter((other) => other === one).length),
          );
          assert.ok(mostOfOne <= Math.max(1, count - 1), `one namespace holds ${mostOfOne} of ${count}`);
        }
        for (const id of kept) places.giveUp(id);
        for (await settle(); held.size > 0; await settle()) {
          const leaving = [...held.values()];
          held.clear();
          for (const place of leaving) place.release();
        }
        assert.deepEqual([places.taken, places.waiting], [0, 0]);
        for (const namespace of ['a', 'b', 'c']) {
          const ownIds = [...new Set(arrived)].filter((id) => namespaceOf(id) === namespace);
          const order = ownIds.map((id) => Number(id.split('/')[1]));
          assert.deepEqual(
            order,
            [...order].sort((a, b) => a - b),
            'one namespace is served in the order of arrival',
          );
        }
      },
    ),
  );
});
