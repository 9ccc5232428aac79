// Which key is next: edits before a restart's list, no host above its slots, and every waiting key before long.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fairAfter,
  HostQueues,
  type Priority,
  priorities,
  type QueueSlots,
  type TakenKey,
} from '#operator/queue/host-queues.ts';
import * as fc from '../../../support/properties.ts';

/** Keys are named `<host>/<anything>`. */
const hostOf = (key: string): string => key.split('/')[0] ?? '';
const open = (slots: Partial<QueueSlots> = {}): HostQueues =>
  new HostQueues(hostOf, { perHost: 1_000_000, total: 1_000_000, edits: 0, ...slots });

function takeAll(queues: HostQueues): TakenKey[] {
  const taken: TakenKey[] = [];
  for (let next = queues.take(); next !== undefined; next = queues.take()) taken.push(next);
  return taken;
}

test('an edit goes before ten thousand keys of a first list, and a due key between the two', () => {
  const queues = open();
  for (let index = 0; index < 10_000; index += 1) queues.put(`x/${index}`, 'listed', 0);
  queues.put('x/due', 'due', 1);
  queues.put('x/edit', 'edited', 2);
  assert.deepEqual(
    [queues.take(), queues.take(), queues.take()].map((taken) => taken?.key),
    ['x/edit', 'x/due', 'x/0'],
  );
});

test('a waiting key becomes more urgent, never less, and keeps the time since which it waits', () => {
  const queues = open();
  queues.put('x/a', 'listed', 1);
  queues.put('x/b', 'listed', 2);
  assert.equal(queues.put('x/b', 'edited', 3), false);
  assert.equal(queues.put('x/b', 'listed', 4), false);
  assert.deepEqual(queues.take(), { key: 'x/b', host: 'x', since: 2, slot: 'normal' });
  assert.equal(queues.size, 1);
});

test('a listed key is next after eight edits', () => {
  const queues = open();
  queues.put('x/old', 'listed', 0);
  for (let index = 0; index < 20; index += 1) queues.put(`x/${index}`, 'edited', 1);
  assert.equal(
    takeAll(queues).findIndex(({ key }) => key === 'x/old'),
    fairAfter,
  );
});

test('a host without a free slot does not delay others, and continues when a slot is free', () => {
  const queues = open({ perHost: 2 });
  for (const key of ['slow/1', 'slow/2', 'slow/3', 'quick/1']) queues.put(key, 'edited', 0);
  const taken = takeAll(queues);
  assert.deepEqual(taken.map(({ key }) => key).sort(), ['quick/1', 'slow/1', 'slow/2']);
  const slow = taken.find(({ host }) => host === 'slow');
  assert.ok(slow);
  queues.finish(slow);
  assert.equal(queues.take()?.key, 'slow/3');
});

test('hosts take turns in the slots that they share', () => {
  const queues = open({ total: 1 });
  for (let index = 0; index < 3; index += 1) queues.put(`many/${index}`, 'due', 0);
  for (const key of ['few/0', 'one/0']) queues.put(key, 'listed', 0);
  const order: string[] = [];
  for (let next = queues.take(); next !== undefined; next = queues.take()) {
    order.push(next.key);
    queues.finish(next);
  }
  assert.deepEqual(order, ['many/0', 'few/0', 'one/0', 'many/1', 'many/2']);
});

for (const [name, slots] of [
  ['its host has no free slot', { perHost: 2, edits: 1 }],
  ['all hosts together have no free slot', { total: 2, edits: 1 }],
] as const) {
  test(`an edit waits for no key of a list while ${name}`, () => {
    const queues = open(slots);
    for (const key of ['a/1', 'a/2', 'a/3']) queues.put(key, 'listed', 0);
    assert.equal(takeAll(queues).length, 2);
    queues.put('a/due', 'due', 1);
    assert.equal(queues.take(), undefined, 'a due key is not an edit');
    queues.put('a/3', 'edited', 1);
    const edit = queues.take();
    assert.equal(edit?.key, 'a/3', 'a key that waited already was edited');
    queues.put('a/edit', 'edited', 2);
    assert.equal(queues.take(), undefined, 'the slots of edits are limited too');
    assert.ok(edit);
    queues.finish(edit);
    assert.equal(queues.take()?.key, 'a/edit');
  });
}

test('an edit that leads away from a hanging API takes a slot of its new host', () => {
  const moved = new Set<string>();
  const queues = new HostQueues((key) => (moved.has(key) ? 'works' : 'hangs'), {
    perHost: 2,
    total: 100,
    edits: 0,
  });
  for (const key of ['a', 'b', 'c', 'd']) queues.put(key, 'due', 7);
  assert.deepEqual(
    takeAll(queues).map(({ key }) => key),
    ['a', 'b'],
  );
  moved.add('d');
  assert.equal(queues.put('d', 'edited', 8), false);
  assert.deepEqual(queues.take(), { key: 'd', host: 'works', since: 7, slot: 'normal' });
  assert.equal(queues.take(), undefined);
  moved.add('c');
  assert.equal(queues.put('c', 'due', 9), false);
  assert.equal(queues.take()?.host, 'works');
  assert.equal(queues.size, 0);
});

test('a host whose queue is empty now and then is not served before the others each time', () => {
  const queues = open({ total: 1 });
  for (const key of ['many/0', 'many/1']) queues.put(key, 'due', 0);
  const order: string[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    queues.put('few/again', 'due', 0);
    const next = queues.take();
    assert.ok(next);
    order.push(next.host);
    queues.finish(next);
  }
  assert.deepEqual(order, ['many', 'few', 'many', 'few']);
});

test('a cleared queue hands out nothing, and keys taken before still free their slots', () => {
  const queues = open({ perHost: 1 });
  for (const key of ['a/1', 'a/2', 'b/1']) queues.put(key, 'due', 0);
  const [first] = takeAll(queues);
  queues.clear();
  assert.equal(queues.size, 0);
  assert.ok(first);
  queues.put('a/3', 'due', 0);
  assert.equal(queues.take(), undefined);
  queues.finish(first);
  assert.equal(queues.take()?.key, 'a/3');
});

const someSlots = fc.record({
  perHost: fc.integer({ min: 1, max: 3 }),
  total: fc.integer({ min: 1, max: 4 }),
  edits: fc.nat(2),
});

test('property: every key is taken once, no slot is taken twice, and an edit waits only for edits', () => {
  const key = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20)).map(([host, index]) => `${host}/${index}`);
  const step = fc.oneof(
    fc.record({ do: fc.constant('put' as const), key, priority: fc.constantFrom(...priorities) }),
    fc.record({ do: fc.constant('take' as const) }),
    fc.record({ do: fc.constant('finish' as const), which: fc.nat(20) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), someSlots, (steps, slots) => {
      const queues = open(slots);
      const waiting = new Map<string, Priority>();
      const active: TakenKey[] = [];
      const used = (slot: TakenKey['slot'], host?: string): number =>
        active.filter((one) => one.slot === slot && (host === undefined || one.host === host)).length;
      const take = (): boolean => {
        const taken = queues.take();
        if (taken === undefined) {
          for (const [one, priority] of waiting) {
            const isFull = (slot: TakenKey['slot'], ofHost: number, ofAll: number): boolean =>
              used(slot, hostOf(one)) >= ofHost || used(slot) >= ofAll;
            assert.ok(isFull('normal', slots.perHost, slots.total), `${one} waits beside a free slot`);
            if (priority === 'edited') assert.ok(isFull('edit', slots.edits, slots.edits), `${one} waits`);
          }
          return false;
        }
        const priority = waiting.get(taken.key);
        assert.ok(waiting.delete(taken.key), `${taken.key} was not waiting`);
        assert.ok(taken.slot === 'normal' || priority === 'edited');
        active.push(taken);
        assert.ok(used('normal', taken.host) <= slots.perHost && used('normal') <= slots.total);
        assert.ok(used('edit') <= slots.edits);
        return true;
      };
      const finish = (which: number): void => {
        const [done] = active.splice(which % Math.max(1, active.length), 1);
        if (done !== undefined) queues.finish(done);
      };
      for (const one of steps) {
        if (one.do === 'put') {
          const known = waiting.get(one.key);
          assert.equal(queues.put(one.key, one.priority, 0), known === undefined);
          const isHigher =
            known === undefined || priorities.indexOf(one.priority) < priorities.indexOf(known);
          if (isHigher) waiting.set(one.key, one.priority);
        } else if (one.do === 'take') take();
        else finish(one.which);
        assert.equal(queues.size, waiting.size);
      }
      while (take() || active.length > 0) finish(0);
      assert.deepEqual([...waiting], []);
    }),
    { numRuns: 300 },
  );
});

test('property: a key that waits is next after a bounded number of others, however many more urgent ones come', () => {
  const some = fc.array(fc.nat(30), { minLength: 1, maxLength: 12 });
  const scenario = fc.record({
    slots: someSlots,
    ends: some,
    more: fc.array(fc.tuple(fc.nat(2), fc.constantFrom('edited', 'edited', 'due')), {
      minLength: 1,
      maxLength: 8,
    }),
    priority: fc.constantFrom('due', 'listed'),
  });
  fc.assert(
    fc.property(scenario, ({ slots, ends, more, priority }) => {
      const queues = open(slots);
      const active: TakenKey[] = [];
      let count = 0;
      const putMore = (): void => {
        const [host, kind] = more[count % more.length] ?? [0, 'edited' as const];
        count += 1;
        queues.put(`${host}/${count}`, kind, 0);
      };
      for (let index = 0; index < 10; index += 1) putMore();
      active.push(...takeAll(queues));
      // A due key waits for those that were due before, a listed key for no other listed one.
      const ahead = priority === 'due' ? queues.size : 0;
      queues.put('0/waiting', priority, 0);
      const hosts = 3;
      const most = hosts * (fairAfter + 2) * (ahead + 1);
      const usedBy = (host?: string): number =>
        active.filter((one) => one.slot === 'normal' && (host ?? one.host) === one.host).length;
      for (let turn = 0, passedOver = 0; passedOver <= most; turn += 1) {
        // The slots of its host are never free: it is passed over by no other key.
        if (turn > 20 * most) return;
        putMore();
        const hasSlot = usedBy('0') < slots.perHost && usedBy() < slots.total;
        const taken = queues.take();
        if (taken?.key === '0/waiting') return;
        assert.ok(taken !== undefined || !hasSlot);
        if (hasSlot && taken?.slot === 'normal') passedOver += 1;
        if (taken !== undefined) active.push(taken);
        const end = ends[turn % ends.length] ?? 0;
        // Not every time, so that hosts have no free slot at different times.
        if (taken !== undefined && end > 20 && active.length < slots.total) continue;
        const [done] = active.splice(end % active.length, 1);
        if (done !== undefined) queues.finish(done);
      }
      assert.fail(`passed over more than ${most} times`);
    }),
    { numRuns: 500 },
  );
});
