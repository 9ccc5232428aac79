// The name of a version: `<yyyymmdd>-<hhmmss>-<8 hex>`. Sorts by time, never parses as a number in YAML, and is
// valid as a DNS label. The time is when the job was first seen complete, so that repeated inspections give the
// same name.

import { createHash } from 'node:crypto';
import type { JobStatus } from '#operator/staticexport/status-schema.ts';
import { readInstant } from '#platform/wire/instant.ts';

/** When the content of a job's version was first available, epoch ms: the end of the job, or the rules that repair it. */
export function readyTime({ completionTime, repairTime }: JobStatus): number | undefined {
  return readInstant(repairTime) ?? readInstant(completionTime);
}

/** The part of a version that names its time, `<yyyymmdd>-<hhmmss>`. @param completedAt epoch ms */
export function stampOf(completedAt: number): string {
  return new Date(completedAt).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}

/**
 * @param completedAt epoch ms
 * @param digest SHA-256 hex of the content; if `undefined` (inspection off), the job's id replaces it
 */
export function nameVersion(completedAt: number, digest: string | undefined, jobId: string): string {
  return `${stampOf(completedAt)}-${(digest ?? createHash('sha256').update(jobId).digest('hex')).slice(0, 8)}`;
}
