// Randomness as a parameter, as for the clock, so that a test can replay code that draws from it. Only code here may
// use the platform's generators.

import { randomBytes, randomUUID } from 'node:crypto';

export interface Random {
  /** RFC 9562 version 4, lower case. */
  uuid(): string;
  bytes(count: number): Uint8Array;
  /** In [0, 1). For spreading load only, never for secrets. */
  fraction(): number;
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
  fraction: () => Math.random(),
};
