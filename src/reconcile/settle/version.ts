// The name of a version: `<yyyymmdd>-<hhmmss>-<8 hex>`. Sorts by time, never parses as a number in YAML, and is
// valid as a DNS label. The time is when the job was first seen complete, so that repeated inspections give the
// same name.

import { createHash } from 'node:crypto';

/**
 * @param completedAt epoch ms
 * @param digest SHA-256 hex of the content; if `undefined` (inspection off), the job's id replaces it
 */
export function nameVersion(completedAt: number, digest: string | undefined, jobId: string): string {
  const stamp = new Date(completedAt).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `${stamp}-${(digest ?? createHash('sha256').update(jobId).digest('hex')).slice(0, 8)}`;
}
