// Who is next: the urgent before the many, no lane wider than allowed, and everybody before long.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Turns } from '../../../../src/operator/queue/turns.ts';
import {
  type LaneOptions,
  type Taken,
  type Urgency,
  urgencies,
  WaitingKeys,
} from '../../../../src/operator/queue/waiting-keys.ts';

/** Keys are named `<lane>/<anything>`. */
const lanes = (width: number, total = 1_000_000, editPlaces = 0) =>
  new WaitingKeys({ laneOf: (key) => key.split('/')[0] ?? '', width, total, editPlaces });
const oneLane = () =>
  new WaitingKeys({ laneOf: () => '', width: 1_000_000, total: 1_000_000, editPlaces: 0 });

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
  assert.deepEqual(keys.take(), { key: 'b', lane: '', since: 2, isEdit: true });
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

test('an edit does not wait for the many that are under way, in its own lane or in all of them', () => {
  for (const [name, keys] of [
    ['its lane is full', lanes(2, 100, 1)],
    ['all lanes together are full', lanes(100, 2, 1)],
  ] as const) {
    for (const key of ['a/1', 'a/2', 'a/3']) keys.put(key, 'listed', 0);
    const [first] = [keys.take(), keys.take()];
    assert.equal(keys.take(), undefined, name);
    keys.put('a/due', 'due', 1);
    assert.equal(keys.take(), undefined, `${name}: a timer is no edit`);
    keys.put('a/3', 'edited', 1);
    assert.equal(keys.take()?.key, 'a/3', `${name}: one that waited already was edited`);
    keys.put('a/edit', 'edited', 2);
    assert.equal(keys.take(), undefined, `${name}: these places are counted too`);
    assert.ok(first);
    keys.finish(first);
    assert.equal(keys.take()?.key, 'a/edit', name);
  }
});

test('an edit that leads away from a lane that is full goes where there is a place', () => {
  const moved = new Set<string>();
  const laneOf = (key: string): string => (moved.has(key) ? 'works' : 'hangs');
  const keys = new WaitingKeys({ laneOf, width: 2, total: 100, editPlaces: 0 });
  for (const key of ['a', 'b', 'c', 'd']) keys.put(key, 'due', 7);
  assert.deepEqual([keys.take()?.key, keys.take()?.key, keys.take()], ['a', 'b', undefined]);
  moved.add('d');
  assert.equal(keys.put('d', 'edited', 8), false);
  assert.deepEqual(keys.take(), { key: 'd', lane: 'works', since: 7, isEdit: true });
  assert.equal(keys.take(), undefined);
  assert.equal(keys.size, 1);
});

test('property: every key that was put is taken once, and neither a lane nor all are ever wider than allowed', () => {
  const key = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20)).map(([lane, index]) => `${lane}/${index}`);
  const step = fc.oneof(
    fc.record({ do: fc.constant('put' as const), key, urgency: fc.constantFrom(...urgencies) }),
    fc.record({ do: fc.constant('take' as const) }),
    fc.record({ do: fc.constant('finish' as const) }),
  );
  const few = (min: number) => fc.integer({ min, max: 3 });
  const places = fc.record({ width: few(1), total: few(1), editPlaces: few(0) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), places, (steps, { width, total, editPlaces }) => {
      const keys = lanes(width, total, editPlaces);
      const owed = new Map<string, (typeof urgencies)[number]>();
      const underWay: Taken[] = [];
      const take = (): boolean => {
        const taken = keys.take();
        if (taken === undefined) return false;
        assert.ok(owed.delete(taken.key), `${taken.key} was not waiting`);
        underWay.push(taken);
        assert.ok(underWay.filter(({ lane }) => lane === taken.lane).length <= width + editPlaces);
        assert.ok(underWay.length <= total + editPlaces);
        const others = underWay.filter(({ isEdit }) => !isEdit);
        assert.ok(others.length <= total && others.filter(({ lane }) => lane === taken.lane).length <= width);
        return true;
      };
      const finish = (): void => {
        const [done] = underWay.splice(0, 1);
        if (done !== undefined) keys.finish(done);
      };
      for (const one of steps) {
        if (one.do === 'put') {
          const known = owed.get(one.key);
          assert.equal(keys.put(one.key, one.urgency, 0), known === undefined);
          const isMore = known === undefined || urgencies.indexOf(one.urgency) < urgencies.indexOf(known);
          if (isMore) owed.set(one.key, one.urgency);
        } else if (one.do === 'take') take();
        else finish();
        assert.equal(keys.size, owed.size);
      }
      while (take() || underWay.length > 0) finish();
      assert.deepEqual([...owed], []);
    }),
  );
});

interface Waiter {
  readonly key: string;
  readonly lane: string;
  readonly urgency: Urgency;
  readonly order: number;
  readonly queued: number;
}

/** The same rules, by looking at everything that waits. */
class Walk {
  readonly #options: LaneOptions;
  #waiting: Waiter[] = [];
  readonly #underWay: Taken[] = [];
  readonly #turns = new Turns(urgencies);
  #turnsOf = new Map<string, Turns<Urgency>>();
  #count = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  put(key: string, urgency: Urgency): void {
    const lane = this.#options.laneOf(key);
    this.#move(key, lane);
    const known = this.#waiting.find((one) => one.key === key);
    const queued = this.#count++;
    if (known === undefined) {
      this.#waiting.push({ key, lane, urgency, order: queued, queued });
    } else if (urgencies.indexOf(urgency) < urgencies.indexOf(known.urgency)) {
      this.#waiting = this.#waiting.map((one) => (one === known ? { ...known, urgency, queued } : one));
    }
  }

  /** To the end of the line of its new lane. */
  #move(key: string, lane: string): void {
    const known = this.#waiting.find((one) => one.key === key);
    if (known === undefined || known.lane === lane) return;
    const queued = this.#count++;
    this.#waiting = this.#waiting.map((one) => (one === known ? { ...known, lane, queued } : one));
    this.#forgetIdle(known.lane);
  }

  take(): string | undefined {
    const { width, total, editPlaces } = this.#options;
    const isIn = (all: readonly Taken[], places: number, urgency: Urgency): boolean => {
      const edits = Math.min(all.filter(({ isEdit }) => isEdit).length, editPlaces);
      return urgency === 'edited' ? all.length < places + editPlaces : all.length - edits < places;
    };
    const inLane = (name: string) => this.#underWay.filter(({ lane }) => lane === name);
    const heads = this.#waiting
      .filter((one) => this.#waiting.every((other) => !isSame(one, other) || other.queued >= one.queued))
      .sort((one, other) => one.order - other.order);
    const mayGo = heads.filter(
      ({ lane, urgency }) => isIn(inLane(lane), width, urgency) && isIn(this.#underWay, total, urgency),
    );
    const waits = (urgency: Urgency): boolean => mayGo.some((one) => one.urgency === urgency);
    const isOpen = isIn(this.#underWay, total, 'due');
    const turn = isOpen ? this.#turns.next(waits) : 'edited';
    const isOwed = ({ lane, urgency }: Waiter): boolean => {
      const waitsHere = (level: Urgency) => heads.some((one) => one.lane === lane && one.urgency === level);
      return urgency === this.#turnsIn(lane).next(waitsHere) && urgency !== urgencies.find(waitsHere);
    };
    const owed = isOpen && turn === urgencies.find(waits) ? mayGo.find(isOwed) : undefined;
    const chosen = owed ?? mayGo.find(({ urgency }) => urgency === turn);
    if (chosen === undefined) return undefined;
    const { key, lane, urgency } = chosen;
    if (isOpen) this.#turns.note(urgency, waits);
    if (isIn(inLane(lane), width, 'due'))
      this.#turnsIn(lane).note(urgency, (level) =>
        heads.some((one) => one.lane === lane && one.urgency === level),
      );
    this.#waiting = this.#waiting.filter((one) => one !== chosen);
    this.#underWay.push({ key, lane, since: 0, isEdit: urgency === 'edited' });
    return key;
  }

  /** Here a key may be under way several times: as an edit and not, and in each lane that it was of. */
  finish({ key, lane, isEdit }: Taken): void {
    const [done] = this.#underWay.splice(
      this.#underWay.findIndex((one) => one.key === key && one.lane === lane && one.isEdit === isEdit),
      1,
    );
    if (done !== undefined) this.#forgetIdle(done.lane);
  }

  #forgetIdle(name: string): void {
    const isIdle = [...this.#waiting, ...this.#underWay].every(({ lane }) => lane !== name);
    if (isIdle) this.#turnsOf.delete(name);
  }

  #turnsIn(lane: string): Turns<Urgency> {
    const turns = this.#turnsOf.get(lane) ?? new Turns(urgencies);
    this.#turnsOf.set(lane, turns);
    return turns;
  }
}

const isSame = (one: Waiter, other: Waiter): boolean =>
  one.lane === other.lane && one.urgency === other.urgency;

test('property: who is next is who would be found by walking all lanes', () => {
  const key = fc.tuple(fc.nat(6), fc.nat(15)).map(([lane, index]) => `${lane}/${index}`);
  const put = { do: fc.constant('put' as const), key, urgency: fc.constantFrom(...urgencies) };
  /** Of one put in five: the edit led to another API. */
  const movesTo = fc.option(fc.nat(6).map(String), { freq: 4, nil: undefined });
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ ...put, movesTo }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('finish' as const), which: fc.nat(20) }) },
  );
  const places = fc.record({
    width: fc.integer({ min: 1, max: 4 }),
    total: fc.integer({ min: 1, max: 12 }),
    editPlaces: fc.integer({ min: 0, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 300 }), places, (steps, room) => {
      const moved = new Map<string, string>();
      const options = { laneOf: (name: string) => moved.get(name) ?? name.split('/')[0] ?? '', ...room };
      const keys = new WaitingKeys(options);
      const walk = new Walk(options);
      const underWay: Taken[] = [];
      for (const one of steps) {
        if (one.do === 'put') {
          if (one.movesTo !== undefined) moved.set(one.key, one.movesTo);
          keys.put(one.key, one.urgency, 0);
          walk.put(one.key, one.urgency);
        } else if (one.do === 'take') {
          const taken = keys.take();
          assert.equal(taken?.key, walk.take());
          if (taken !== undefined) underWay.push(taken);
        } else {
          const [done] = underWay.splice(one.which % Math.max(1, underWay.length), 1);
          if (done === undefined) continue;
          keys.finish(done);
          walk.finish(done);
        }
      }
    }),
    { numRuns: 300 },
  );
});
