// A number that looks random and never changes, for jitter in decisions that must be repeatable. Invariant: the
// same parts give the same number in every process.

import { createHash } from 'node:crypto';
import type { Status } from '#operator/staticexport/status-schema.ts';
import type { Wanted } from '#operator/staticexport/wanted.ts';

/** In [0, 1), from the parts alone. */
export function spreadOf(...parts: readonly (string | number)[]): number {
  return Number.parseInt(sha256(parts.join('\n')).slice(0, 8), 16) / 2 ** 32;
}

/** What an export depends on. */
export type ExportInputs = Pick<Wanted, 'domain' | 'baseUrl' | 'project'>;

/** The inputs of the published version, or else of the tracked job, if they are of what is wanted at its own address. */
export function inputsInHand(
  { active, job }: Pick<Status, 'active' | 'job'>,
  wanted: Pick<ExportInputs, 'domain' | 'project'>,
): string | undefined {
  return [active, job].find(
    (one) =>
      one?.inputHash !== undefined && one.inputHash === hashInputs({ ...wanted, baseUrl: one.baseUrl }),
  )?.inputHash;
}

/**
 * Names them. A project's domain only names the site. Without a project the hash is what it was before there were projects,
 * so that no version is exported again.
 */
export function hashInputs({ domain, baseUrl, project }: ExportInputs): string {
  const parts =
    project === undefined
      ? [domain ?? null, baseUrl ?? null]
      : [baseUrl ?? null, project.id, project.basePath ?? null];
  return sha256(JSON.stringify(parts)).slice(0, 16);
}

/** `hash` of node:crypto would end an older Node before it can say that it is too old. */
function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
