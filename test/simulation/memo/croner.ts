// Replaces the product's `croner`: every scenario run starts at the same time, so the same patterns need the ticks of
// the same year. A pattern's ticks are computed in order, and each once.

import { Cron as CronAnew } from 'croner';

type Options = Readonly<Record<string, unknown>>;

/** Consecutive ticks after `start`, up to the last one requested. */
interface Known {
  readonly start: number;
  readonly ticks: number[];
}

const known = new Map<string, Known>();
const maxTicks = 100_000;
/** Before the start, because clocks are also set back. */
const earlierMs = 60 * 24 * 3_600_000;

/** The part of `Cron` that the product uses. */
export class Cron {
  readonly #cron: CronAnew;
  readonly #id: string;

  constructor(pattern: string, options: Options) {
    this.#cron = new CronAnew(pattern, options);
    this.#id = JSON.stringify([pattern, options]);
  }

  nextRun(after: Date): Date | null {
    const at = after.getTime();
    // The product asks from the epoch whether a pattern has any tick.
    const found = known.get(this.#id) ?? (at === 0 ? undefined : this.#begin(at));
    if (found === undefined || at < found.start || found.ticks.length >= maxTicks)
      return this.#cron.nextRun(after);
    const { ticks } = found;
    for (let last = ticks.at(-1) ?? found.start; last <= at; ) {
      const tick = this.#cron.nextRun(new Date(last));
      if (tick === null) return null;
      last = tick.getTime();
      ticks.push(last);
    }
    const tick = firstAfter(ticks, at);
    return tick === undefined ? null : new Date(tick);
  }

  #begin(at: number): Known {
    const begun: Known = { start: at - earlierMs, ticks: [] };
    known.set(this.#id, begun);
    return begun;
  }
}

function firstAfter(ticks: readonly number[], at: number): number | undefined {
  let [low, high] = [0, ticks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ticks[middle] ?? at) > at) high = middle;
    else low = middle + 1;
  }
  return ticks[low];
}
