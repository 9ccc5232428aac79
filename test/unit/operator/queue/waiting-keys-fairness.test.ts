// However many are more urgent: who has a place is taken before long, and an edit waits only for edits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fairAfter } from '../../../../src/operator/queue/turns.ts';
import { type Taken, urgencies, WaitingKeys } from '../../../../src/operator/queue/waiting-keys.ts';

/** Keys are named `<lane>/<anything>`. */
const lanes = (width: number, total: number, editPlaces: number) =>
  new WaitingKeys({ laneOf: (key) => key.split('/')[0] ?? '', width, total, editPlaces });

test('edits without end take no turn of what is due, in its own lane or in all of them', () => {
  for (const [name, keys, editedLanes] of [
    ['one lane', lanes(4, 16, 2), 1],
    ['all places are taken by edits of other lanes', lanes(4, 16, 2), 9],
  ] as const) {
    const underWay: Taken[] = [];
    for (let index = 0; index < 2_000; index += 1) keys.put(`${index % editedLanes}/${index}`, 'edited', 0);
    for (let taken = keys.take(); taken !== undefined; taken = keys.take()) underWay.push(taken);
    keys.put(`${editedLanes - 1}/due`, 'due', 1);
    let edits = 0;
    for (let next = keys.take(); next?.key.endsWith('due') !== true; next = keys.take()) {
      if (next !== undefined) underWay.push(next);
      const done = underWay.shift();
      assert.ok(done);
      keys.finish(done);
      edits += 1;
      assert.ok(edits < 60, `${name}: not taken after ${edits} edits`);
    }
  }
});

test('what one lane owes to those behind its edits is no turn of others: a due key elsewhere has its own', () => {
  const keys = lanes(4, 4, 2);
  const underWay: Taken[] = [];
  let count = 0;
  const putMore = (urgency: 'edited' | 'due'): void => {
    count += 1;
    keys.put(`busy/${count}`, urgency, 0);
  };
  // Two places are held by what hangs elsewhere.
  for (const key of ['hanging/1', 'hanging/2']) keys.put(key, 'due', 0);
  while (keys.take() !== undefined);
  for (let index = 0; index < 20; index += 1) {
    putMore('edited');
    putMore('due');
  }
  keys.put('other/due', 'due', 0);
  for (let turn = 0; turn < 500; turn += 1) {
    for (let taken = keys.take(); taken !== undefined; taken = keys.take()) {
      if (taken.key === 'other/due') return;
      underWay.push(taken);
      putMore(taken.isEdit ? 'edited' : 'due');
    }
    // Edits are quick: nine of them end while one that was due does.
    const isEdit = turn % 10 !== 9;
    const at = underWay.findIndex((one) => one.isEdit === isEdit);
    if (at >= 0) for (const done of underWay.splice(at, 1)) keys.finish(done);
  }
  assert.fail('not taken');
});

test('an edit that ends gives its place back as what it was: to edits first', () => {
  const keys = lanes(1, 9, 1);
  for (const key of ['a/1', 'a/2']) keys.put(key, 'edited', 0);
  const [own, normal] = [keys.take(), keys.take()];
  assert.ok(own && normal && own.isEdit && normal.isEdit);
  keys.put('a/due', 'due', 0);
  assert.equal(keys.take(), undefined, 'two edits: one in the place of edits, one in the normal one');
  keys.finish(own);
  const due = keys.take();
  assert.equal(due?.key, 'a/due', 'the edit that is left has the place of edits');
  keys.put('a/later', 'due', 0);
  keys.finish(normal);
  assert.equal(keys.take(), undefined, 'the place of edits is not for what is due');
  keys.put('a/3', 'edited', 0);
  assert.equal(keys.take()?.key, 'a/3');
  assert.ok(due && !due.isEdit);
  keys.finish(due);
  assert.equal(keys.take()?.key, 'a/later');
});

test('property: an edit waits only for edits, once all may go that may', () => {
  const key = fc.tuple(fc.nat(2), fc.nat(30)).map(([lane, index]) => `${lane}/${index}`);
  const step = fc.record({ key, urgency: fc.constantFrom(...urgencies), finish: fc.option(fc.nat(20)) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const places = { width: 2, total: 4, editPlaces: 2 };
      const keys = lanes(places.width, places.total, places.editPlaces);
      const waiting = new Set<string>();
      const underWay: Taken[] = [];
      for (const one of steps) {
        keys.put(one.key, one.urgency, 0);
        if (one.urgency === 'edited') waiting.add(one.key);
        const [done] =
          one.finish === null ? [] : underWay.splice(one.finish % Math.max(1, underWay.length), 1);
        if (done !== undefined) keys.finish(done);
        for (let taken = keys.take(); taken !== undefined; taken = keys.take()) {
          waiting.delete(taken.key);
          underWay.push(taken);
        }
        for (const edit of waiting) {
          const edits = underWay.filter(({ isEdit }) => isEdit);
          const inLane = edits.filter(({ lane }) => edit.startsWith(`${lane}/`));
          assert.ok(
            Math.max(edits.length, inLane.length) >= places.editPlaces,
            `${edit} waits for what is due`,
          );
        }
      }
    }),
  );
});

test('property: with edits and dues without end, who has a place is taken before long, in whatever order they end', () => {
  const some = fc.array(fc.nat(30), { minLength: 1, maxLength: 12 });
  const places = fc.record({
    width: fc.integer({ min: 1, max: 3 }),
    total: fc.integer({ min: 1, max: 6 }),
    editPlaces: fc.nat(2),
  });
  const world = fc.record({
    places,
    ends: some,
    more: fc.array(fc.tuple(fc.nat(2), fc.constantFrom('edited', 'edited', 'due')), {
      minLength: 1,
      maxLength: 8,
    }),
    urgency: fc.constantFrom('due', 'listed'),
    before: fc.nat(20),
  });
  fc.assert(
    fc.property(world, ({ places: room, ends, more, urgency, before }) => {
      const keys = lanes(room.width, room.total, room.editPlaces);
      const underWay: Taken[] = [];
      let count = 0;
      const putMore = (): void => {
        const [lane, kind] = more[count % more.length] ?? [0, 'edited' as const];
        count += 1;
        // What is due later is behind it: what is due before it may go first.
        keys.put(`${lane}/${count}`, count <= before ? 'edited' : kind, 0);
      };
      while (count < before) putMore();
      for (let taken = keys.take(); taken !== undefined; taken = keys.take()) underWay.push(taken);
      keys.put('0/patient', urgency, 0);
      const round = fairAfter + 1;
      const most = urgency === 'due' ? round ** 2 : round ** 4;
      const normal = (all: readonly Taken[]) =>
        all.length - Math.min(all.filter(({ isEdit }) => isEdit).length, room.editPlaces);
      for (let passedOver = 0, turn = 0; passedOver <= most + round; turn += 1) {
        // Those in its lane hang: nobody passes it over.
        if (turn > 4 * most) return;
        putMore();
        const hasPlace =
          normal(underWay.filter(({ lane }) => lane === '0')) < room.width && normal(underWay) < room.total;
        const taken = keys.take();
        if (taken?.key === '0/patient') return;
        assert.ok(taken !== undefined || !hasPlace);
        if (hasPlace) passedOver += 1;
        if (taken !== undefined) underWay.push(taken);
        // Whoever ends; and not always one, so that lanes are full at different times.
        const end = ends[turn % ends.length] ?? 0;
        if (taken !== undefined && end > 20 && underWay.length < room.total) continue;
        const [done] = underWay.splice(end % underWay.length, 1);
        if (done !== undefined) keys.finish(done);
      }
      assert.fail(`passed over more than ${most} times`);
    }),
    { numRuns: 300 },
  );
});
