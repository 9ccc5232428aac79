// Replaces `src/operator/reconcile/spread.ts`: one hash for the same parts.

import { hashInputs as hashAnew, spreadOf as spreadAnew } from '#operator/reconcile/spread.ts';
import { byValue } from './memory.ts';

export { inputsInHand } from '#operator/reconcile/spread.ts';

const spread = byValue((text: string) => spreadAnew(text));
const hashes = byValue((domain: string) => byValue((baseUrl: string) => hashAnew(domain, baseUrl)));

/** The real function also joins the parts with newlines. */
export function spreadOf(...parts: readonly (string | number)[]): number {
  return spread(parts.join('\n'));
}

export function hashInputs(domain: string, baseUrl: string | undefined): string {
  return baseUrl === undefined ? hashAnew(domain, baseUrl) : hashes(domain)(baseUrl);
}
