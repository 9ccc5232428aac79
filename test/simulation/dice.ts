// Randomness that can be replayed: a small seeded generator (mulberry32), and the Random port made of it.
// Invariant: the same seed gives the same scenario.

import type { Random } from '#platform/runtime/random.ts';

export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Whole, from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.roll() * (high - low + 1));
  }

  isBelow(probability: number): boolean {
    return this.roll() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const index = Math.floor(this.roll() * choices.length);
    for (const choice of choices.slice(index, index + 1)) return choice;
    throw new Error('nothing to pick from');
  }

  random(): Random {
    const hex = (): string => this.between(0, 65_535).toString(16).padStart(4, '0');
    return {
      uuid: () => `${hex()}${hex()}-${hex()}-4${hex().slice(1)}-a${hex().slice(1)}-${hex()}${hex()}${hex()}`,
      bytes: (count) => Uint8Array.from({ length: count }, () => this.between(0, 255)),
      fraction: () => this.roll(),
    };
  }
}
