// The one number of pages that a table has room for: of what is published, else of what is on its way. Pure.
// Refuses: mixing the two; beside a published version nothing else is counted.

import type { Status } from '../../staticexport/status-schema.ts';

/** @returns what `status.pages` shows; `undefined` where nobody has counted yet */
export function shownPages({ active, candidate, job }: Status): number | undefined {
  if (active === undefined) return candidate?.pages ?? job?.pageCount;
  // Where nothing was inspected, the API's own count is all there is.
  return active.pages ?? (job?.id === active.jobId ? job.pageCount : undefined);
}
