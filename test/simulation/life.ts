// A long life: days to years of one resource, most of them quiet, some with trouble that lasts for hours or days,
// all made of one seed and checked by the oracles at every turn. Quiet days must cost nothing between timers.

import { Crash, type FaultLog, randomFaults } from './faults.ts';
import { Oracles } from './oracles.ts';
import { type Script, troubles } from './troubles.ts';
import { keySecret, type Turn, World } from './world.ts';

export const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;

export interface LifeFacts {
  days: number;
  turns: number;
  faults: number;
  crashes: number;
  starts: number;
  mints: number;
  versions: number;
  /** Days on which nothing was due or changed, and turns on which nothing was due. */
  idleDays: number;
  idleTurns: number;
  /** Links that died while nobody could be asked for another. */
  excusedDeaths: number;
}

/** Plays the life of a seed. Throws the breach, with the seed and the day in its message. */
export async function playLife(seed: number, days: number): Promise<LifeFacts> {
  const life = new Life(seed);
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
  #rate = 0;
  #turns = 0;
  #faultsSeen = 0;
  #edits = 0;
  #idleDays = 0;
  day = 0;
  trouble = 'none';

  constructor(seed: number) {
    const world = new World({ seed, spec: {} });
    const { dice } = world;
    const schedule = dice.pick([undefined, '0 3 * * *', '0 3 * * *', '0 3 * * 1', '30 */6 * * *']);
    const historyLimit = dice.between(1, 6);
    world.editSpec({ ...(schedule && { schedule }), historyLimit, jobTimeout: '30m' });
    world.faults = randomFaults(dice, () => this.#rate, this.#log);
    world.vendor.linkLifetimeMs = dice.pick([1, 12, 24, 24, 72, 168]) * hourMs;
    world.vendor.isIdempotent = dice.isBelow(0.7);
    world.vendor.jobMs = dice.between(5, 1200) * 1000;
    this.#script = { world, oracles: new Oracles(world) };
  }

  async liveDay(): Promise<void> {
    const { world, oracles } = this.#script;
    this.day += 1;
    if (world.dice.isBelow(0.8)) {
      const turns = this.#turns;
      const idle = oracles.idleTurns;
      await this.#run(dayMs);
      if (oracles.idleTurns - idle === this.#turns - turns) this.#idleDays += 1;
      return;
    }
    const before = world.clock.monotonic();
    await this.#run(world.dice.between(0, 20) * hourMs);
    await this.#trouble(before + dayMs - world.clock.monotonic());
    await this.#run(Math.max(0, before + dayMs - world.clock.monotonic()));
  }

  /** What goes wrong, for as long as it does, and its end. */
  async #trouble(leftMs: number): Promise<void> {
    const { world, oracles } = this.#script;
    const { dice } = world;
    const [name, begin] = dice.pick(Object.entries(troubles));
    this.trouble = name;
    this.#edits += 1;
    this.#rate = dice.pick([0, 0, 0.02, 0.1]);
    oracles.disturb();
    const { end, stopsLinks } = begin(this.#script);
    oracles.isTroubled = stopsLinks;
    // Whatever it was, the next look may find something; nobody has to be told of it.
    world.isDirty = true;
    await this.#run(
      dice.isBelow(0.1) ? dice.between(1, 3) * dayMs : Math.min(leftMs, dice.between(1, 240) * 60_000),
    );
    end?.();
    this.#rate = 0;
    oracles.isTroubled = false;
    oracles.disturb();
    world.prompt();
    this.#edits += 1;
    this.trouble = 'none';
  }

  async settle(): Promise<void> {
    const { world, oracles } = this.#script;
    world.vendor.jobMs = 60_000;
    world.cluster.putSecret(keySecret, { apiKey: world.vendor.validKey });
    world.editSpec({ suspend: false, pin: undefined, promotion: { maxShrinkPercent: 100 } });
    world.annotate({ 'staticexport.dev/requestedAt': 'the end' });
    oracles.disturb();
    await this.#run(3 * hourMs);
    oracles.checkSettled();
  }

  #run(ms: number): Promise<void> {
    return this.#script.world.run(ms, (turn) => this.#watch(turn));
  }

  async #watch(turn: Turn): Promise<void> {
    const { world, oracles } = this.#script;
    this.#turns += 1;
    // Where keys are not honoured, a start sent again is another job: one for each fault, as without.
    oracles.excused = this.#log.length + this.#edits;
    const hadFaults = this.#log.length > this.#faultsSeen || turn.error instanceof Crash;
    this.#faultsSeen = this.#log.length;
    await oracles.check(turn, hadFaults, world.dice.isBelow(0.25));
    world.forget();
  }

  facts(days: number): LifeFacts {
    const { world, oracles } = this.#script;
    return {
      days,
      turns: this.#turns,
      faults: this.#log.length,
      crashes: world.crashes,
      starts: world.vendor.exported.size,
      mints: world.vendor.links.size,
      versions: oracles.versions(),
      idleDays: this.#idleDays,
      idleTurns: oracles.idleTurns,
      excusedDeaths: oracles.link.excused,
    };
  }
}
