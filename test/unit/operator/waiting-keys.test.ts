// Who is next: the urgent before the many, no lane wider than allowed, and in the end everybody.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { urgencies, WaitingKeys } from '../../../src/operator/waiting-keys.ts';

const oneLane = () => new WaitingKeys({ laneOf: () => '', width: 1_000_000 });
/** Keys are named `<lane>/<anything>`. */
const lanes = (width: number) => new WaitingKeys({ laneOf: (key) => key.split('/')[0] ?? '', width });

test('an edit goes before ten thousand keys of a first list, and a due look between the two', () => {
  const keys = oneLane();
  for (let index = 0; index < 10_000; index += 1) keys.put(`x${index}`, 'listed', 0);
  keys.put('timer', 'due', 1);
  keys.put('edit', 'edited', 2);
  assert.deepEqual(
    [keys.take(), keys.take(), keys.take()].map((taken) => taken?.key),
    ['edit', 'timer', 'x0'],
  );
});

test('a waiting key becomes more urgent, never less, and its waiting counts from the first time', () => {
  const keys = oneLane();
  keys.put('a', 'listed', 1);
  keys.put('b', 'listed', 2);
  assert.equal(keys.put('b', 'edited', 3), false);
  assert.equal(keys.put('b', 'listed', 4), false);
  assert.deepEqual(keys.take(), { key: 'b', lane: '', since: 2 });
  assert.equal(keys.size, 1);
});

test('those who wait longest have a turn after eight that were more urgent', () => {
  const keys = oneLane();
  keys.put('old', 'listed', 0);
  for (let index = 0; index < 20; index += 1) keys.put(`e${index}`, 'edited', 1);
  const order = Array.from({ length: 10 }, () => keys.take()?.key);
  assert.equal(order.indexOf('old'), 8);
});

test('a lane that is full lets the others by, and goes on when a place is free', () => {
  const keys = lanes(2);
  for (const key of ['slow/1', 'slow/2', 'slow/3', 'quick/1']) keys.put(key, 'edited', 0);
  const [first, , third] = [keys.take(), keys.take(), keys.take()];
  assert.equal(third?.key, 'quick/1');
  assert.equal(keys.take(), undefined);
  assert.ok(first);
  keys.finish(first);
  assert.equal(keys.take()?.key, 'slow/3');
});

test('property: every key that was put is taken once, and no lane is ever wider than allowed', () => {
  const key = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20)).map(([lane, index]) => `${lane}/${index}`);
  const step = fc.oneof(
    fc.record({ do: fc.constant('put' as const), key, urgency: fc.constantFrom(...urgencies) }),
    fc.record({ do: fc.constant('take' as const) }),
    fc.record({ do: fc.constant('finish' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 3 }), (steps, width) => {
      const keys = lanes(width);
      const owed = new Set<string>();
      const underWay: { readonly key: string; readonly lane: string }[] = [];
      const take = (): boolean => {
        const taken = keys.take();
        if (taken === undefined) return false;
        assert.ok(owed.delete(taken.key), `${taken.key} was not waiting`);
        underWay.push(taken);
        assert.ok(underWay.filter(({ lane }) => lane === taken.lane).length <= width);
        return true;
      };
      const finish = (): void => {
        const [done] = underWay.splice(0, 1);
        if (done !== undefined) keys.finish(done);
      };
      for (const one of steps) {
        if (one.do === 'put') {
          assert.equal(keys.put(one.key, one.urgency, 0), !owed.has(one.key));
          owed.add(one.key);
        } else if (one.do === 'take') take();
        else finish();
        assert.equal(keys.size, owed.size);
      }
      while (take() || underWay.length > 0) finish();
      assert.deepEqual([...owed], []);
    }),
  );
});
