// Stands in for `src/reconcile/spread.ts`: a hash of the same parts is the same hash.

import { hashInputs as hashAnew, spreadOf as spreadAnew } from '../../../src/reconcile/spread.ts';
import { byValue } from './memory.ts';

export { inputsInHand } from '../../../src/reconcile/spread.ts';

const spread = byValue((text: string) => spreadAnew(text));
const hashes = byValue((domain: string) => byValue((baseUrl: string) => hashAnew(domain, baseUrl)));

/** Parts are joined by new lines there too. */
export function spreadOf(...parts: readonly (string | number)[]): number {
  return spread(parts.join('\n'));
}

export function hashInputs(domain: string, baseUrl: string | undefined): string {
  return baseUrl === undefined ? hashAnew(domain, baseUrl) : hashes(domain)(baseUrl);
}
