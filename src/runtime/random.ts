// Randomness as a parameter, for the same reason as the clock: what draws from it can be replayed.
// Only here may the platform's generators be touched.

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
