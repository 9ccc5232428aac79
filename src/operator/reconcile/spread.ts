// A number that looks random and never changes, for jitter in decisions that must be repeatable. Invariant: the
// same parts give the same number in every process.

import { createHash } from 'node:crypto';
import type { Status } from '#operator/staticexport/status-schema.ts';

/** In [0, 1), from the parts alone. */
export function spreadOf(...parts: readonly (string | number)[]): number {
  return Number.parseInt(sha256(parts.join('\n')).slice(0, 8), 16) / 2 ** 32;
}

/** The inputs of the published version, or else of the tracked job, if they are of this domain. */
export function inputsInHand(
  { active, job }: Pick<Status, 'active' | 'job'>,
  domain: string,
): string | undefined {
  return [active, job].find(
    (one) => one?.inputHash !== undefined && one.inputHash === hashInputs(domain, one.baseUrl),
  )?.inputHash;
}

/** Names (domain, base URL): what an export depends on. */
export function hashInputs(domain: string, baseUrl: string | undefined): string {
  return sha256(JSON.stringify([domain, baseUrl ?? null])).slice(0, 16);
}

/** `hash` of node:crypto would end an older Node before it can say that it is too old. */
function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
