// The token of `run --request`. A run that was killed leaves one that no job has completed; the next run keeps it, and so
// continues its job. Refuses: a new token before that, because each is one more export.

import { annotations } from '#operator/staticexport/names.ts';
import { parseStatus } from '#operator/staticexport/parse.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';

/** @param stored as the last run left it. @param now epoch ms */
export function requestToken(stored: StaticExportObject | undefined, now: number): string {
  const pending = stored?.metadata.annotations[annotations.requestedAt];
  const { lastCompletedRequest } = parseStatus(stored?.status);
  return pending === undefined || pending === lastCompletedRequest ? new Date(now).toISOString() : pending;
}
