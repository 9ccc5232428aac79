// Archives that wait for an inspection slot: how many are inspected at once, what a link that expires in the queue
// costs, and that neither an unreachable API nor an unneeded resource delays the others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Slot } from '#operator/loop/inspection/fair-slots.ts';
import { InspectionSlots } from '#operator/loop/inspection/inspection-slots.ts';
import { mirrorSpec } from '../../../../simulation/fake-mirror.ts';
import { resource, Simulation } from '../../../../simulation/simulation.ts';
import { virtualClock } from '../../../../support/virtual-clock.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;

/** The slots as one simulation uses them: the resources of all simulations have the same name. */
class OwnPlaces extends InspectionSlots {
  readonly #shared: InspectionSlots;
  readonly #name: string;

  constructor(shared: InspectionSlots, name: string) {
    super(1);
    this.#shared = shared;
    this.#name = name;
  }

  override hasRoom(id: string, makesSearch: boolean): boolean {
    return this.#shared.hasRoom(`${this.#name} ${id}`, makesSearch);
  }

  override take(id: string, signal: AbortSignal, makesSearch: boolean): Promise<Slot> {
    return this.#shared.take(`${this.#name} ${id}`, signal, makesSearch);
  }

  override keep(id: string, place: Slot, end: AbortSignal, makesSearch: boolean): void {
    this.#shared.keep(`${this.#name} ${id}`, place, end, makesSearch);
  }

  override giveUp(id: string): void {
    this.#shared.giveUp(`${this.#name} ${id}`);
  }
}

/** Simulations of one resource each, on one clock, that share the slots of one process. */
class Crowd {
  readonly clock = virtualClock();
  readonly places: InspectionSlots;
  readonly simulations: readonly Simulation[];
  /** Link requests of each simulation until its first publication. */
  readonly issues = new Map<Simulation, number>();
  mostAtOnce = 0;
  #now = 0;

  constructor(sites: number, places: number, prepare: (simulation: Simulation) => void) {
    this.places = new InspectionSlots(places);
    this.simulations = Array.from({ length: sites }, (_none, index) => {
      const simulation = new Simulation({
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
      prepare(simulation);
      return simulation;
    });
  }

  async #count<T>(reading: Promise<T>): Promise<T> {
    this.#now += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#now);
    return reading.finally(() => {
      this.#now -= 1;
    });
  }

  /** Runs due reconciles of all simulations in order, until each has published or `ms` have passed. */
  async run(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    while (this.issues.size < this.simulations.length && this.clock.monotonic() < end) {
      const [next] = [...this.simulations].sort((a, b) => a.wakeAt - b.wakeAt);
      const leftMs = (next?.wakeAt ?? end) - this.clock.monotonic();
      if (leftMs > 0) await this.clock.pass(Math.min(secondMs, leftMs));
      else await this.#step(next);
    }
  }

  async #step(simulation: Simulation | undefined): Promise<void> {
    await simulation?.step();
    if (simulation?.condition('Ready') !== 'True/Published' || this.issues.has(simulation)) return;
    this.issues.set(simulation, simulation.callsOf('issue'));
  }
}

/** A simulation whose complete job waits while another resource has the only slot. */
async function waitingSimulation(prepare: (simulation: Simulation) => void = () => {}): Promise<{
  readonly simulation: Simulation;
  readonly places: InspectionSlots;
  readonly other: Slot;
}> {
  const places = new InspectionSlots(1);
  const other = await places.take('docs/other', new AbortController().signal);
  const simulation = new Simulation({
    bend: (context) => ({ ...context, memory: { ...context.memory, slots: places } }),
  });
  prepare(simulation);
  await simulation.until(() => places.waiting === 1);
  return { simulation, places, other };
}

test('sixty archives are inspected two at a time, and each link is issued once', async () => {
  const crowd = new Crowd(60, 2, ({ vendor }) => {
    vendor.readMs = 15 * secondMs;
    vendor.linkLifetimeMs = 60 * minuteMs;
  });
  await crowd.run(60 * minuteMs);
  assert.equal(crowd.mostAtOnce, 2);
  assert.deepEqual(
    [...crowd.issues.values()],
    crowd.simulations.map(() => 1),
  );
  assert.deepEqual([crowd.places.taken, crowd.places.waiting], [0, 0]);
});

test('links that expire in the queue cost one more link request each', async () => {
  const crowd = new Crowd(60, 2, ({ vendor }) => {
    vendor.readMs = 15 * secondMs;
    vendor.linkLifetimeMs = 30 * secondMs;
  });
  await crowd.run(60 * minuteMs);
  assert.equal(crowd.issues.size, 60, 'all are published');
  assert.equal(crowd.mostAtOnce, 2);
  const most = Math.max(...crowd.issues.values());
  assert.ok(most <= 2, `${most} issues for one inspection`);
  for (const simulation of crowd.simulations) assert.equal(simulation.status().failures, undefined);
});

test('a reconcile does not wait for a slot, and the end of the inspection starts the next one', async () => {
  const { simulation, places, other } = await waitingSimulation();
  const before = simulation.clock.monotonic();
  await simulation.step();
  assert.equal(simulation.clock.monotonic(), before);
  assert.equal(simulation.condition('Exported'), 'Unknown/Pending');
  other.release();
  const leftAt = simulation.clock.monotonic();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.ok(simulation.clock.monotonic() - leftAt <= 5 * secondMs);
  assert.deepEqual([places.taken, simulation.callsOf('issue')], [0, 1]);
});

test('the inspection timeout starts when the slot is taken', async () => {
  const { simulation, other } = await waitingSimulation(({ vendor, settings }) => {
    vendor.linkLifetimeMs = 600 * minuteMs;
    vendor.readMs = settings.inspectTimeoutMs - secondMs;
  });
  await simulation.run(2 * simulation.settings.inspectTimeoutMs);
  assert.equal(simulation.condition('Exported'), 'Unknown/Pending');
  other.release();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.equal(simulation.status().failures, undefined);
});

test('a resource that is suspended, deleted or pinned to another version leaves the queue', async () => {
  const happenings: readonly ((simulation: Simulation) => void)[] = [
    (simulation) => simulation.editSpec({ suspend: true }),
    (simulation) =>
      simulation.editSpec({ pin: { jobId: simulation.vendor.startElsewhere('docs.example.com') } }),
    (simulation) => {
      simulation.cluster.remove(resource);
      simulation.prompt();
    },
  ];
  for (const happen of happenings) {
    const { simulation, places } = await waitingSimulation();
    happen(simulation);
    await simulation.step();
    assert.deepEqual([places.taken, places.waiting], [1, 0]);
  }
});

test('a link that expired in the queue is issued again at the slot and does not count as a failure', async () => {
  for (const lifetimeMs of [30 * secondMs, 60 * minuteMs]) {
    const { simulation, places, other } = await waitingSimulation(({ vendor }) => {
      vendor.linkLifetimeMs = lifetimeMs;
    });
    await simulation.run(2 * minuteMs);
    assert.equal(simulation.callsOf('issue'), 1, 'no link is issued in the queue');
    simulation.vendor.links.clear();
    other.release();
    await simulation.until(() => simulation.condition('Ready') === 'True/Published');
    assert.equal(simulation.status().failures, undefined);
    assert.deepEqual([places.taken, simulation.callsOf('issue')], [0, 2]);
  }
});

test('a slot is not kept when no link can be issued: refused, wrong key, no answer', async () => {
  const troubles: readonly (readonly [what: string, cause: (simulation: Simulation) => void, ms: number])[] =
    [
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
        'the API hangs, and no reconcile ends',
        (simulation) => {
          simulation.wakeAt = Number.POSITIVE_INFINITY;
        },
        61 * secondMs,
      ],
    ];
  for (const [what, cause, ms] of troubles) {
    const { simulation, places, other } = await waitingSimulation(({ vendor }) => {
      vendor.linkLifetimeMs = 30 * secondMs;
    });
    await simulation.run(2 * minuteMs);
    cause(simulation);
    other.release();
    await simulation.clock.pass(0);
    assert.equal(places.taken, 1, `${what}: the slot is kept`);
    if (Number.isFinite(simulation.wakeAt)) await simulation.run(ms);
    else await simulation.clock.pass(ms);
    assert.equal(places.taken, 0, `${what}: the slot is released`);
  }
});

test('after an outage longer than every link in the queue all are published, with few link requests', async () => {
  const crowd = new Crowd(20, 2, ({ vendor }) => {
    vendor.readMs = 15 * secondMs;
    vendor.linkLifetimeMs = minuteMs;
  });
  await crowd.run(90 * secondMs);
  const before = crowd.simulations.map((simulation) => simulation.callsOf('issue'));
  for (const { vendor } of crowd.simulations) vendor.failing = 'ServerError';
  await crowd.run(30 * minuteMs);
  assert.ok(crowd.issues.size < 20, 'some were in the queue');
  assert.equal(crowd.places.taken, 0, 'no slot waits for a link that is not issued');
  for (const { vendor } of crowd.simulations) vendor.failing = undefined;
  const waited = crowd.simulations.filter((simulation) => !crowd.issues.has(simulation));
  const tried = new Map(waited.map((simulation) => [simulation, simulation.callsOf('issue')]));
  await crowd.run(60 * minuteMs);
  assert.equal(crowd.issues.size, 20);
  for (const simulation of waited) {
    const more = (crowd.issues.get(simulation) ?? 0) - (tried.get(simulation) ?? 0);
    assert.ok(more <= 2, `${more} issues after the outage`);
  }
  assert.equal(before.length, 20);
});

test('an archive that waits for another search has its whole time afterwards, and is downloaded once', async () => {
  const places = new InspectionSlots(2);
  const other = await places.take('other/site', new AbortController().signal, true);
  const simulation = new Simulation({
    spec: { mirror: mirrorSpec, transform: { search: 'Enabled' } },
    bend: (context) => ({ ...context, memory: { ...context.memory, slots: places } }),
  });
  simulation.vendor.linkLifetimeMs = 60 * minuteMs;
  simulation.vendor.readMs = 9 * minuteMs;
  await simulation.until(() => places.waiting === 1);
  await simulation.run(20 * minuteMs);
  assert.deepEqual([simulation.mirror.calls, places.taken, places.waiting], [[], 1, 1]);
  assert.equal(simulation.status().failures, undefined);
  other.release();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 15 * minuteMs);
  assert.deepEqual([simulation.mirror.calls, places.taken], [['copy'], 0]);
});

test('a link that expires while another search is made costs one more link request', async () => {
  const places = new InspectionSlots(2);
  const other = await places.take('other/site', new AbortController().signal, true);
  const simulation = new Simulation({
    spec: { mirror: mirrorSpec, transform: { search: 'Enabled' } },
    bend: (context) => ({ ...context, memory: { ...context.memory, slots: places } }),
  });
  simulation.vendor.linkLifetimeMs = 5 * minuteMs;
  await simulation.until(() => places.waiting === 1);
  await simulation.run(20 * minuteMs);
  assert.equal(simulation.callsOf('issue'), 1);
  other.release();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 15 * minuteMs);
  assert.equal(simulation.callsOf('issue'), 2);
});
