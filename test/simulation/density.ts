// How many troubles a scenario run has, drawn from its seed separately: most resources have quiet weeks, some have
// none. Invariant: every trouble and every fault is possible in every density.

import { Dice } from './dice.ts';

export interface Density {
  readonly name: 'stormy' | 'ordinary' | 'calm';
  /** Share of days on which a trouble starts. */
  readonly troublesPerDay: number;
}

export const stormy: Density = { name: 'stormy', troublesPerDay: 1 / 8 };
const ordinary: Density = { name: 'ordinary', troublesPerDay: 1 / 30 };
const calm: Density = { name: 'calm', troublesPerDay: 1 / 90 };

export const densities: readonly Density[] = [stormy, ordinary, calm];

/** A quarter of all scenario runs is stormy, a quarter calm. */
const shares: readonly Density[] = [stormy, ordinary, ordinary, calm];
/** Separate dice, so that the density does not change the draws of the scenario run. */
const salt = 0x5eed_0000;

export function densityOf(seed: number): Density {
  return new Dice(seed ^ salt).pick(shares);
}
