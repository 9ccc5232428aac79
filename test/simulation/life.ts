// A long life: days to years of one resource, most of them quiet, some with trouble that lasts for hours or days,
// all made of one seed and checked by the oracles at every turn. Quiet days must cost nothing between timers.

import { type Density, densities, densityOf } from './density.ts';
import { Dice } from './dice.ts';
import { Crash, type FaultLog, faultsOf, randomFaults } from './faults.ts';
import { namedTime, Oracles, shortestLookMs } from './oracles.ts';
import { keySecret, Simulation, type Step } from './simulation.ts';
import { ownDocument } from './target-document.ts';
import { targetKinds } from './target-troubles.ts';
import { type Script, troubles } from './troubles.ts';

export const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;
/** In one life of three a call fails now and then, on any day. */
const restingRates = [0, 0, 0.0005];
const nightly = '0 3 * * *';
const weekly = '0 3 * * 1';
const sixHourly = '30 */6 * * *';
/** README.md says why these. What costs a hundred times the passes of all else is rare, not left out. */
const schedules: readonly (string | undefined)[] = [
  ...Array.from({ length: 14 }, () => undefined),
  ...Array.from({ length: 26 }, () => nightly),
  ...Array.from({ length: 9 }, () => weekly),
  sixHourly,
];
const lifetimesInHours = [6, 12, 12, 12, 24, 24, 24, 24, 24, 72, 72, ...Array.from({ length: 9 }, () => 168)];
const shortestShare = 0.003;
const shortShare = 0.02;

function pickLifetimeMs(dice: Dice): number {
  if (dice.isBelow(shortestShare)) return hourMs / 4;
  return dice.isBelow(shortShare) ? hourMs : dice.pick(lifetimesInHours) * hourMs;
}

/** How often the hourly looks of a calm day are left out as long as nothing is named; else some of them. */
const leavingOut = 0.7;

/**
 * Counts by name: `days`, `passes`, `crashes`, `jobs`, `faulty starts`, `spare jobs`, `links`, `versions`; `idle
 * passes` on which nothing was due and `idle days` of nothing else; `looks left out` of calm days; `excused deaths` of
 * links while nobody could be asked for another, and those of a clock set back under a link. `fault|…|call` and
 * `trouble|…|density` by kind, and `happening|lives|density`.
 */
export type LifeFacts = Readonly<Record<string, number>>;

/** What may happen, under the names of the facts: a long campaign in which one never does proves less than it says. */
export const possibleFacts: readonly string[] = [
  ...Object.entries(faultsOf).flatMap(([call, kinds]) => kinds.map((kind) => `fault|${kind}|${call}`)),
  ...densities.flatMap(({ name }) => [
    `happening|lives|${name}`,
    `happening|troubles of days|${name}`,
    `happening|outages of days|${name}`,
    ...Object.keys(troubles).map((trouble) => `trouble|${trouble}|${name}`),
  ]),
];

/** Plays the life of a seed. Throws the breach, with the seed and the day in its message. */
export async function playLife(seed: number, days: number, density = densityOf(seed)): Promise<LifeFacts> {
  const life = new Life(seed, density);
  try {
    for (let day = 0; day < days; day += 1) await life.liveDay();
    await life.settle();
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`life ${seed}, day ${life.day}, trouble ${life.trouble}: ${words}`, { cause: error });
  }
  return life.facts(days);
}

class Life {
  readonly #log: FaultLog[] = [];
  readonly #script: Script;
  readonly #density: Density;
  readonly #restingRate: number;
  #rate: number;
  #steps = 0;
  #faultsSeen = 0;
  #edits = 0;
  /** Starts in whose step something went wrong. */
  #faultyStarts = 0;
  #idleDays = 0;
  #skipped = 0;
  #longTroubles = 0;
  #longOutages = 0;
  readonly #troubles: string[] = [];
  day = 0;
  trouble = 'none';

  constructor(seed: number, density: Density) {
    this.#density = density;
    const simulation = new Simulation({ seed, spec: {}, target: new Dice(seed).pick(targetKinds) });
    const { dice } = simulation;
    const schedule = dice.pick(schedules);
    const historyLimit = dice.between(1, 6);
    simulation.editSpec({ ...(schedule && { schedule }), historyLimit, jobTimeout: '30m' });
    this.#restingRate = dice.pick(restingRates);
    this.#rate = this.#restingRate;
    simulation.faults = randomFaults(
      dice,
      () => this.#rate,
      this.#log,
      (name) => faultsOf[name] ?? [],
    );
    simulation.vendor.linkLifetimeMs = pickLifetimeMs(dice);
    simulation.vendor.isIdempotent = dice.isBelow(0.7);
    // Most APIs say how long to wait between two questions.
    simulation.vendor.pollAfterMs = dice.pick([undefined, 10_000, 60_000, 120_000]);
    // From seconds to twenty minutes, short ones as often as long ones.
    simulation.vendor.jobMs = Math.round(5000 * 240 ** dice.roll());
    this.#script = { simulation, oracles: new Oracles(simulation) };
  }

  async liveDay(): Promise<void> {
    const { simulation, oracles } = this.#script;
    this.day += 1;
    if (!simulation.dice.isBelow(this.#density.troublesPerDay)) {
      const steps = this.#steps;
      const idle = oracles.idleTurns;
      await this.#run(dayMs);
      if (oracles.idleTurns - idle === this.#steps - steps) this.#idleDays += 1;
      return;
    }
    const before = simulation.clock.monotonic();
    await this.#run(simulation.dice.between(0, 20) * hourMs);
    await this.#trouble(before + dayMs - simulation.clock.monotonic());
    await this.#run(Math.max(0, before + dayMs - simulation.clock.monotonic()));
  }

  /** What goes wrong, for as long as it does, and its end. */
  async #trouble(leftMs: number): Promise<void> {
    const { simulation, oracles } = this.#script;
    const { dice } = simulation;
    const [name, begin] = dice.pick(Object.entries(troubles));
    this.trouble = name;
    this.#troubles.push(name);
    this.#edits += 1;
    this.#rate = Math.max(this.#restingRate, dice.pick([0, 0, 0, 0.02, 0.1]));
    oracles.disturb();
    const { end, stopsLinks } = begin(this.#script);
    oracles.isTroubled = stopsLinks;
    // Whatever it was, the next look may find something; nobody has to be told of it.
    simulation.isDirty = true;
    const isLong = dice.isBelow(0.1);
    if (isLong) this.#longTroubles += 1;
    if (isLong && name === 'outage') this.#longOutages += 1;
    await this.#run(isLong ? dice.between(1, 3) * dayMs : Math.min(leftMs, dice.between(1, 240) * 60_000));
    end?.();
    this.#rate = this.#restingRate;
    oracles.isTroubled = false;
    oracles.disturb();
    simulation.prompt();
    this.#edits += 1;
    this.trouble = 'none';
  }

  async settle(): Promise<void> {
    const { simulation, oracles } = this.#script;
    simulation.vendor.jobMs = 60_000;
    simulation.cluster.putSecret(keySecret, { apiKey: simulation.vendor.validKey });
    simulation.editSpec({ suspend: false, pin: undefined, promotion: { maxShrinkPercent: 100 } });
    simulation.annotate({ 'staticexport.dev/requestedAt': 'the end' });
    if (simulation.target !== undefined) ownDocument(simulation, simulation.target);
    oracles.disturb();
    await this.#run(3 * hourMs);
    oracles.checkSettled();
  }

  #run(ms: number): Promise<void> {
    return this.#script.simulation.run(ms, (step, end) => this.#watch(step, end));
  }

  async #watch(step: Step, end: number): Promise<void> {
    const { simulation, oracles } = this.#script;
    this.#steps += 1;
    const hadFaults = this.#log.length > this.#faultsSeen || step.error instanceof Crash;
    this.#faultsSeen = this.#log.length;
    // Where keys are not honoured, a start sent again is another job: one for each fault of a start, as without.
    const calls = step.callsMade > 0 ? simulation.vendor.calls.slice(-step.callsMade) : [];
    const hasStarted = calls.some(({ kind }) => kind === 'start');
    if (hasStarted && (hadFaults || step.error !== undefined)) this.#faultyStarts += 1;
    oracles.excused = this.#faultyStarts + this.#edits;
    await oracles.check(step, hadFaults, simulation.dice.isBelow(0.25));
    simulation.forget();
    if (this.trouble === 'none' && !hadFaults) this.#skipLooks(step, end);
  }

  /**
   * On a calm day most of the hourly looks are left out. They would see the same objects and name the same times,
   * and without them nothing makes good what a timer forgot. The last one before a named time is always played,
   * and of the others some.
   */
  #skipLooks({ outcome, startedAt }: Step, end: number): void {
    const { simulation } = this.#script;
    const { clock, dice } = simulation;
    const object = simulation.object();
    const lookMs = simulation.wakeAt - startedAt;
    if (outcome?.wakeAfterMs === undefined || simulation.isDirty || lookMs < shortestLookMs) return;
    const quietMs = namedTime(object, clock.now()) - clock.now();
    const spare = Math.floor((Math.min(end, quietMs + clock.monotonic()) - simulation.wakeAt - 1) / lookMs);
    const skipped = spare > 0 && dice.isBelow(leavingOut) ? spare : dice.between(0, spare);
    if (skipped <= 0) return;
    simulation.wakeAt += skipped * lookMs;
    this.#skipped += skipped;
  }

  facts(days: number): LifeFacts {
    const { simulation, oracles } = this.#script;
    return {
      days,
      passes: this.#steps,
      crashes: simulation.crashes,
      jobs: simulation.vendor.exported.size,
      'spare jobs': oracles.spareJobs(),
      links: simulation.vendor.links.size,
      versions: oracles.versions(),
      'idle days': this.#idleDays,
      'idle passes': oracles.idleTurns,
      'looks left out': this.#skipped,
      'excused deaths': oracles.link.excused,
      'deaths by a clock set back': oracles.link.setBackDeaths,
      [`happening|lives|${this.#density.name}`]: 1,
      [`happening|troubles of days|${this.#density.name}`]: this.#longTroubles,
      [`happening|outages of days|${this.#density.name}`]: this.#longOutages,
      'faulty starts': this.#faultyStarts,
      ...countsOf(this.#log.map(({ name, fault }) => `fault|${fault}|${name}`)),
      ...countsOf(this.#troubles.map((name) => `trouble|${name}|${this.#density.name}`)),
    };
  }
}

function countsOf(names: readonly string[]): LifeFacts {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
