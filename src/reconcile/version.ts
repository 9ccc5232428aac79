// The name of a version: `<yyyymmdd>-<hhmmss>-<8 hex>`. Sorts by time, never looks like a number to YAML, is
// safe as a DNS label. The time is when the job was seen complete, so that the name is the same however often
// the archive is looked at.

import { createHash } from 'node:crypto';

/**
 * @param completedAt epoch ms
 * @param digest SHA-256 hex of the content; without one (inspection off) the job's id stands in
 */
export function nameVersion(completedAt: number, digest: string | undefined, jobId: string): string {
  const stamp = new Date(completedAt).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `${stamp}-${(digest ?? createHash('sha256').update(jobId).digest('hex')).slice(0, 8)}`;
}
