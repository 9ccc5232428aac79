// How much goes wrong in a life, drawn by its seed apart from everything else: most resources have quiet weeks, some
// never a calm one. Invariant: every trouble and every fault may come in every density.

import { Dice } from './dice.ts';

export interface Density {
  readonly name: 'stormy' | 'ordinary' | 'calm';
  /** Days on which a trouble begins. */
  readonly troublesPerDay: number;
}

export const stormy: Density = { name: 'stormy', troublesPerDay: 1 / 8 };
const ordinary: Density = { name: 'ordinary', troublesPerDay: 1 / 30 };
const calm: Density = { name: 'calm', troublesPerDay: 1 / 90 };

export const densities: readonly Density[] = [stormy, ordinary, calm];

/** A quarter of all lives is stormy, a quarter calm. */
const shares: readonly Density[] = [stormy, ordinary, ordinary, calm];
/** Other dice than those of the life, which begin with the seed itself. */
const salt = 0x5eed_0000;

export function densityOf(seed: number): Density {
  return new Dice(seed ^ salt).pick(shares);
}
