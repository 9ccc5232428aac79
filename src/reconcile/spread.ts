// A number that looks random and never changes: where jitter is wanted and a decision must still be repeatable.
// Invariant: the same parts give the same number in every process.

import { hash } from 'node:crypto';

/** In [0, 1), from the parts alone. */
export function spreadOf(...parts: readonly (string | number)[]): number {
  return Number.parseInt(hash('sha256', parts.join('\n')).slice(0, 8), 16) / 2 ** 32;
}

/** Names (domain, base URL): what an export depends on. */
export function hashInputs(domain: string, baseUrl: string | undefined): string {
  return hash('sha256', JSON.stringify([domain, baseUrl ?? null])).slice(0, 16);
}
