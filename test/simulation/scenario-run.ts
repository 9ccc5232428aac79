// A scenario run: days to years of one resource, most of them quiet, some with troubles of hours or days, generated
// from one seed and checked by the oracles at every step. Quiet days must cost no call between timers.

import { type Density, densities, densityOf } from './density.ts';
import { Dice } from './dice.ts';
import type { MirrorShape } from './fake-mirror.ts';
import { Crash, type FaultLog, faultsOf, randomFaults } from './faults.ts';
import type { GitShape } from './git-target.ts';
import { gitShapeOf, gitShapes } from './git-troubles.ts';
import { drawnMirrorShapes, mirrorShapeOf, restoreMirror } from './mirror-troubles.ts';
import { objectShapeOf, objectShapes } from './object-troubles.ts';
import { namedTime, Oracles, shortestLookMs } from './oracles.ts';
import { keySecret, Simulation, type Step } from './simulation.ts';
import { ownDocument } from './target-document.ts';
import { targetKinds } from './target-troubles.ts';
import { type Script, troubles } from './troubles.ts';

export const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;
/** In one of three scenario runs a call fails occasionally, on any day. */
const restingRates = [0, 0, 0.0005];
const nightly = '0 3 * * *';
const weekly = '0 3 * * 1';
const sixHourly = '30 */6 * * *';
/** README.md gives the reasons. Links that cost a hundred times the reconciles are rare, not left out. */
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

/** How often all hourly checks of a calm day before the next named time are left out; otherwise some of them. */
const leavingOut = 0.7;

/**
 * Counts by name: `days`, `passes`, `crashes`, `jobs`, `faulty starts`, `spare jobs`, `links`, `versions`. The
 * record keeps older names: `passes` are reconciles, `idle passes` those without a due action and `idle days` days of
 * only these, `looks left out` the hourly checks left out of calm days, `excused deaths` links that expired while the
 * vendor issued no other, `deaths by a clock set back` those of a clock set back, `lives` scenario runs.
 */
export type RunCounts = Readonly<Record<string, number>>;

const gitNameOf = (shape: GitShape | undefined) => shape && `git ${shape}`;
const mirrorNameOf = (shape: MirrorShape | undefined) => shape && `mirror ${shape}`;
const targetNames = new Set(
  [
    ...targetKinds,
    ...objectShapes,
    ...gitShapes.map(gitNameOf),
    ...drawnMirrorShapes.map(mirrorNameOf),
  ].filter((name) => name !== undefined),
);

/** All possible counts by name: a long campaign that lacks one proves less than it claims. */
export const possibleCounts: readonly string[] = [
  ...Object.entries(faultsOf).flatMap(([call, kinds]) => kinds.map((kind) => `fault|${kind}|${call}`)),
  ...densities.flatMap(({ name }) => [
    `happening|lives|${name}`,
    ...[...targetNames].map((target) => `happening|lives with ${target}|${name}`),
    `happening|troubles of days|${name}`,
    `happening|outages of days|${name}`,
    ...Object.keys(troubles).map((trouble) => `trouble|${trouble}|${name}`),
  ]),
];

/** How the export API is asked. */
export const apiForms = ['domain', 'project'] as const;
export type ApiForm = (typeof apiForms)[number];

export interface RunOptions {
  readonly density?: Density;
  readonly form?: ApiForm;
}

/** Plays the scenario run of a seed. Throws the breach, with the seed and the day in its message. */
export async function playScenarioRun(
  seed: number,
  days: number,
  { density = densityOf(seed), form = 'domain' }: RunOptions = {},
): Promise<RunCounts> {
  const run = new ScenarioRun(seed, density, form);
  try {
    for (let day = 0; day < days; day += 1) await run.playDay();
    await run.settle();
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}, day ${run.day}, trouble ${run.trouble}: ${words}`, { cause: error });
  }
  return run.counts(days);
}

const ofProject = { api: { keySecretRef: { name: keySecret.name }, projectId: 'p1' } };

class ScenarioRun {
  readonly #log: FaultLog[] = [];
  readonly #script: Script;
  readonly #density: Density;
  readonly #restingRate: number;
  #rate: number;
  #steps = 0;
  #faultsSeen = 0;
  #edits = 0;
  /** Starts in steps with a fault. */
  #faultyStarts = 0;
  #idleDays = 0;
  #skipped = 0;
  #longTroubles = 0;
  #longOutages = 0;
  readonly #troubles: string[] = [];
  day = 0;
  trouble = 'none';

  constructor(seed: number, density: Density, form: ApiForm) {
    this.#density = density;
    const simulation = new Simulation({
      ...{
        seed,
        spec: form === 'project' ? ofProject : {},
        target: new Dice(seed).pick(targetKinds),
        object: objectShapeOf(seed),
        git: gitShapeOf(seed),
        mirror: mirrorShapeOf(seed),
      },
    });
    const { dice } = simulation;
    const schedule = dice.pick(schedules);
    const historyLimit = dice.between(1, 6);
    simulation.editSpec({ ...(schedule && { schedule }), historyLimit, jobTimeout: '30m', trigger: {} });
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
    // Most export APIs say how long to wait between two polls.
    simulation.vendor.pollAfterMs = dice.pick([undefined, 10_000, 60_000, 120_000]);
    // From seconds to twenty minutes, as often short as long.
    simulation.vendor.jobMs = Math.round(5000 * 240 ** dice.roll());
    this.#script = { simulation, oracles: new Oracles(simulation) };
  }

  async playDay(): Promise<void> {
    const { simulation, oracles } = this.#script;
    this.day += 1;
    if (!simulation.dice.isBelow(this.#density.troublesPerDay)) {
      const steps = this.#steps;
      const idle = oracles.idleSteps;
      await this.#run(dayMs);
      if (oracles.idleSteps - idle === this.#steps - steps) this.#idleDays += 1;
      return;
    }
    const before = simulation.clock.monotonic();
    await this.#run(simulation.dice.between(0, 20) * hourMs);
    await this.#trouble(before + dayMs - simulation.clock.monotonic());
    await this.#run(Math.max(0, before + dayMs - simulation.clock.monotonic()));
  }

  /** One trouble with its duration and its end. */
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
    // The next reconcile may find the change without an event.
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
    simulation.hook(3, 10_000);
    if (simulation.target !== undefined) ownDocument(simulation, simulation.target);
    simulation.owned.object?.restore();
    simulation.owned.git?.restore();
    restoreMirror(simulation);
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
    // Without idempotency keys a start sent again is another job: at most one for each fault of a start, as with keys.
    const calls = step.callsMade > 0 ? simulation.vendor.calls.slice(-step.callsMade) : [];
    const hasStarted = calls.some(({ kind }) => kind === 'start');
    if (hasStarted && (hadFaults || step.error !== undefined)) this.#faultyStarts += 1;
    oracles.excused = this.#faultyStarts + this.#edits;
    await oracles.check(step, hadFaults, simulation.dice.isBelow(0.25));
    simulation.forget();
    if (this.trouble === 'none' && !hadFaults) this.#skipLooks(step, end);
  }

  /**
   * Leaves out most of the hourly checks of a calm day. They would see the same objects and name the same times, and
   * could hide a forgotten timer. The last check before a named time is always played, and some of the others.
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

  #targets(): readonly string[] {
    const { target, owned, mirror } = this.#script.simulation;
    const all = [target, owned.object?.shape, gitNameOf(owned.git?.shape), mirrorNameOf(mirror.shape)];
    return all.filter((name) => name !== undefined);
  }

  counts(days: number): RunCounts {
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
      'idle passes': oracles.idleSteps,
      'looks left out': this.#skipped,
      'excused deaths': oracles.link.excused,
      'deaths by a clock set back': oracles.link.expiredBySetBack,
      [`happening|lives|${this.#density.name}`]: 1,
      ...countsOf(this.#targets().map((target) => `happening|lives with ${target}|${this.#density.name}`)),
      [`happening|troubles of days|${this.#density.name}`]: this.#longTroubles,
      [`happening|outages of days|${this.#density.name}`]: this.#longOutages,
      'faulty starts': this.#faultyStarts,
      ...countsOf(this.#log.map(({ name, fault }) => `fault|${fault}|${name}`)),
      ...countsOf(this.#troubles.map((name) => `trouble|${name}|${this.#density.name}`)),
    };
  }
}

function countsOf(names: readonly string[]): RunCounts {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
