// Bodies under way: who is cut where there is no room.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBodySlots } from '#operator/webhook/body-slots.ts';
import * as fc from '../../../support/properties.ts';

function startSlots(atOnce: number, perClient: number) {
  const slots = createBodySlots({ atOnce, perClient });
  const cut: string[] = [];
  const enter = (client: string, name: string) => slots.enter(client, () => cut.push(name));
  return { enter, cut };
}

test('a client that has its share loses its oldest body', () => {
  const { enter, cut } = startSlots(10, 2);
  enter('a', 'a1');
  enter('a', 'a2');
  enter('b', 'b1');
  assert.deepEqual(cut, []);
  enter('a', 'a3');
  assert.deepEqual(cut, ['a1']);
});

test('where all slots are taken, the client that has most loses its oldest body', () => {
  const { enter, cut } = startSlots(4, 3);
  enter('b', 'b1');
  for (const name of ['a1', 'a2', 'a3']) enter('a', name);
  enter('c', 'c1');
  assert.deepEqual(cut, ['a1']);
});

test('a body that has arrived needs no slot any more', () => {
  const { enter, cut } = startSlots(1, 1);
  const leave = enter('a', 'a1');
  leave();
  leave();
  enter('b', 'b1');
  assert.deepEqual(cut, []);
});

test('property: no more bodies are under way than the bounds allow', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 60 }), (clients) => {
      const slots = createBodySlots({ atOnce: 5, perClient: 2 });
      const held = new Map<number, string>();
      for (const [at, client] of clients.entries()) {
        slots.enter(`${client}`, () => held.delete(at));
        held.set(at, `${client}`);
        assert.ok(held.size <= 5);
        const mine = [...held.values()].filter((one) => one === `${client}`);
        assert.ok(mine.length <= 2);
      }
    }),
  );
});
