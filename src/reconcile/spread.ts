// A number that looks random and never changes: where jitter is wanted and a decision must still be repeatable.
// Invariant: the same parts give the same number in every process.

import { createHash } from 'node:crypto';

/** In [0, 1), from the parts alone. */
export function spreadOf(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(parts.join('\n')).digest().readUInt32BE(0) / 2 ** 32;
}

/** Names (domain, base URL): what an export depends on. */
export function hashInputs(domain: string, baseUrl: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([domain, baseUrl ?? null]))
    .digest('hex')
    .slice(0, 16);
}
