// Stands in for the `croner` of the product: every life begins at the same instant, so the same patterns are asked for
// the ticks of the same year. A pattern's ticks are found one after the other, and each once.

import { Cron as CronAnew } from 'croner';

type Options = Readonly<Record<string, unknown>>;

/** Consecutive ticks after `start`, as far as anybody asked. */
interface Known {
  readonly start: number;
  readonly ticks: number[];
}

const known = new Map<string, Known>();
const maxTicks = 100_000;
/** Clocks are set back, too. */
const earlierMs = 60 * 24 * 3_600_000;

/** What the product uses of it. */
export class Cron {
  readonly #cron: CronAnew;
  readonly #id: string;

  constructor(pattern: string, options: Options) {
    this.#cron = new CronAnew(pattern, options);
    this.#id = JSON.stringify([pattern, options]);
  }

  nextRun(after: Date): Date | null {
    const at = after.getTime();
    // Whether there is any tick at all is asked of the beginning of time.
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
