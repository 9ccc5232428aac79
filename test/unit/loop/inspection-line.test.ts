// Sites whose archives wait for a place to be read: how many are read at once, what a link that dies in the line
// costs, and that neither an API that is away nor a resource that nobody wants keeps the others waiting.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InspectionSlots, type Slot } from '../../../src/loop/inspection-slots.ts';
import { resource, World } from '../../simulation/world.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;

/** A world's part of the places: the resources of all worlds have the same name. */
class OwnPlaces extends InspectionSlots {
  readonly #shared: InspectionSlots;
  readonly #name: string;

  constructor(shared: InspectionSlots, name: string) {
    super(1);
    this.#shared = shared;
    this.#name = name;
  }

  override hasRoom(id: string): boolean {
    return this.#shared.hasRoom(`${this.#name} ${id}`);
  }

  override take(id: string, signal: AbortSignal): Promise<Slot> {
    return this.#shared.take(`${this.#name} ${id}`, signal);
  }

  override keep(id: string, place: Slot, end: AbortSignal): void {
    this.#shared.keep(`${this.#name} ${id}`, place, end);
  }

  override giveUp(id: string): void {
    this.#shared.giveUp(`${this.#name} ${id}`);
  }
}

/** Worlds of one resource each, on one clock, that share the places of one process. */
class Crowd {
  readonly clock = virtualClock();
  readonly places: InspectionSlots;
  readonly worlds: readonly World[];
  /** Issues of each until it was published first. */
  readonly issues = new Map<World, number>();
  mostAtOnce = 0;
  #now = 0;

  constructor(sites: number, places: number, prepare: (world: World) => void) {
    this.places = new InspectionSlots(places);
    this.worlds = Array.from({ length: sites }, (_none, index) => {
      const world = new World({
        seed: index + 1,
        clock: this.clock,
        bend: (context) => ({
          ...context,
          memory: { ...context.memory, slots: new OwnPlaces(this.places, String(index)) },
          bundles: {
            ...context.bundles,
            inspect: (...given) => this.#count(context.bundles.inspect(...given)),
          },
        }),
      });
      prepare(world);
      return world;
    });
  }

  async #count<T>(reading: Promise<T>): Promise<T> {
    this.#now += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#now);
    return reading.finally(() => {
      this.#now -= 1;
    });
  }

  /** Passes of all, one after the other as they fall due, until each was published or `ms` are over. */
  async run(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    while (this.issues.size < this.worlds.length && this.clock.monotonic() < end) {
      const [next] = [...this.worlds].sort((a, b) => a.wakeAt - b.wakeAt);
      const leftMs = (next?.wakeAt ?? end) - this.clock.monotonic();
      if (leftMs > 0) await this.clock.pass(Math.min(secondMs, leftMs));
      else await this.#turn(next);
    }
  }

  async #turn(world: World | undefined): Promise<void> {
    await world?.turn();
    if (world?.condition('Ready') !== 'True/Published' || this.issues.has(world)) return;
    this.issues.set(world, world.callsOf('issue'));
  }
}

/** One whose archive is complete, and who waits while somebody else has the only place. */
async function waitingWorld(prepare: (world: World) => void = () => {}): Promise<{
  readonly world: World;
  readonly places: InspectionSlots;
  readonly other: Slot;
}> {
  const places = new InspectionSlots(1);
  const other = await places.take('docs/other', new AbortController().signal);
  const world = new World({
    bend: (context) => ({ ...context, memory: { ...context.memory, slots: places } }),
  });
  prepare(world);
  await world.until(() => places.waiting === 1);
  return { world, places, other };
}

test('sixty archives at once are read two at a time, and each link is issued once', async () => {
  const crowd = new Crowd(60, 2, ({ vendor }) => {
    vendor.readMs = 15 * secondMs;
    vendor.linkLifetimeMs = 60 * minuteMs;
  });
  await crowd.run(60 * minuteMs);
  assert.equal(crowd.mostAtOnce, 2);
  assert.deepEqual(
    [...crowd.issues.values()],
    crowd.worlds.map(() => 1),
  );
  assert.deepEqual([crowd.places.taken, crowd.places.waiting], [0, 0]);
});

test('links that live for half a minute die in a line of many minutes, and cost one link request more each', async () => {
  const crowd = new Crowd(60, 2, ({ vendor }) => {
    vendor.readMs = 15 * secondMs;
    vendor.linkLifetimeMs = 30 * secondMs;
  });
  await crowd.run(60 * minuteMs);
  assert.equal(crowd.issues.size, 60, 'all are published');
  assert.equal(crowd.mostAtOnce, 2);
  const most = Math.max(...crowd.issues.values());
  assert.ok(most <= 2, `${most} issues for one reading`);
  for (const world of crowd.worlds) assert.equal(world.status().failures, undefined);
});

test('a pass does not wait for a place, and is not needed to have it: its end brings the next', async () => {
  const { world, places, other } = await waitingWorld();
  const before = world.clock.monotonic();
  await world.turn();
  assert.equal(world.clock.monotonic(), before);
  assert.equal(world.condition('Exported'), 'Unknown/Pending');
  other.release();
  const leftAt = world.clock.monotonic();
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.ok(world.clock.monotonic() - leftAt <= 5 * secondMs);
  assert.deepEqual([places.taken, world.callsOf('issue')], [0, 1]);
});

test('the time for reading an archive begins at the place', async () => {
  const { world, other } = await waitingWorld(({ vendor, settings }) => {
    vendor.linkLifetimeMs = 600 * minuteMs;
    vendor.readMs = settings.inspectTimeoutMs - secondMs;
  });
  await world.run(2 * world.settings.inspectTimeoutMs);
  assert.equal(world.condition('Exported'), 'Unknown/Pending');
  other.release();
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.equal(world.status().failures, undefined);
});

test('who is suspended, pinned elsewhere or deleted leaves the line', async () => {
  const happenings: readonly ((world: World) => void)[] = [
    (world) => world.editSpec({ suspend: true }),
    (world) => world.editSpec({ pin: { jobId: world.vendor.startElsewhere('docs.example.com') } }),
    (world) => {
      world.cluster.remove(resource);
      world.prompt();
    },
  ];
  for (const happen of happenings) {
    const { world, places } = await waitingWorld();
    happen(world);
    await world.turn();
    assert.deepEqual([places.taken, places.waiting], [1, 0]);
  }
});

test('a link that died in the line, sooner than it said too, is issued anew at the place and says nothing of the archive', async () => {
  for (const lifetimeMs of [30 * secondMs, 60 * minuteMs]) {
    const { world, places, other } = await waitingWorld(({ vendor }) => {
      vendor.linkLifetimeMs = lifetimeMs;
    });
    await world.run(2 * minuteMs);
    assert.equal(world.callsOf('issue'), 1, 'nothing is issued in the line');
    world.vendor.links.clear();
    other.release();
    await world.until(() => world.condition('Ready') === 'True/Published');
    assert.equal(world.status().failures, undefined);
    assert.deepEqual([places.taken, world.callsOf('issue')], [0, 2]);
  }
});

test('a place is not kept for a link that does not come: the API refuses it, hangs, or may not be called', async () => {
  const troubles: readonly (readonly [what: string, cause: (world: World) => void, ms: number])[] = [
    [
      'refused',
      ({ vendor }) => {
        vendor.failing = 'ServerError';
      },
      2 * secondMs,
    ],
    [
      'the key is wrong',
      ({ vendor }) => {
        vendor.validKey = 'svc_another';
      },
      2 * secondMs,
    ],
    [
      'nothing answers, and no pass ends',
      (world) => {
        world.wakeAt = Number.POSITIVE_INFINITY;
      },
      61 * secondMs,
    ],
  ];
  for (const [what, cause, ms] of troubles) {
    const { world, places, other } = await waitingWorld(({ vendor }) => {
      vendor.linkLifetimeMs = 30 * secondMs;
    });
    await world.run(2 * minuteMs);
    cause(world);
    other.release();
    await world.clock.pass(0);
    assert.equal(places.taken, 1, `${what}: it is kept`);
    if (Number.isFinite(world.wakeAt)) await world.run(ms);
    else await world.clock.pass(ms);
    assert.equal(places.taken, 0, `${what}: it is left`);
  }
});

test('after an outage that outlived every link in the line, all are published, with few issues', async () => {
  const crowd = new Crowd(20, 2, ({ vendor }) => {
    vendor.readMs = 15 * secondMs;
    vendor.linkLifetimeMs = minuteMs;
  });
  await crowd.run(90 * secondMs);
  const before = crowd.worlds.map((world) => world.callsOf('issue'));
  for (const { vendor } of crowd.worlds) vendor.failing = 'ServerError';
  await crowd.run(30 * minuteMs);
  assert.ok(crowd.issues.size < 20, 'some were in the line');
  assert.equal(crowd.places.taken, 0, 'no place waits for a link that does not come');
  for (const { vendor } of crowd.worlds) vendor.failing = undefined;
  const waited = crowd.worlds.filter((world) => !crowd.issues.has(world));
  const tried = new Map(waited.map((world) => [world, world.callsOf('issue')]));
  await crowd.run(60 * minuteMs);
  assert.equal(crowd.issues.size, 20);
  for (const world of waited) {
    const more = (crowd.issues.get(world) ?? 0) - (tried.get(world) ?? 0);
    assert.ok(more <= 2, `${more} issues after the outage`);
  }
  assert.equal(before.length, 20);
});
