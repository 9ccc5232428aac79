// The one page count that a table has room for: of the published version, else of the version in progress. Pure.
// Refuses: mixing the two. While a version is published, only its pages count.

import type { Status } from '#operator/staticexport/status-schema.ts';

/** @returns the value of `status.pages`; `undefined` if no page count is known yet */
export function shownPages({ active, candidate, job }: Status): number | undefined {
  if (active === undefined) return candidate?.pages ?? job?.pageCount;
  // Without an inspection, the export API's own count is the only one.
  return active.pages ?? (job?.id === active.jobId ? job.pageCount : undefined);
}
