// How often a job is polled: every two seconds at first, then more slowly, and at least every minute. A job past
// its timeout is polled every five minutes.

import type { JobStatus } from '#operator/staticexport/status-schema.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { rateLimitTime } from './access.ts';
import { retryTime } from './backoff.ts';
import type { Observation } from './observation.ts';

const fastestMs = 2000;
const slowestMs = 60_000;
const lateMs = 5 * 60_000;
/** The longest delay between two polls that an export API may request. */
const longestAskedMs = 10 * 60_000;

/** @param elapsedMs since the job was started */
export function pollIntervalMs(elapsedMs: number): number {
  return Math.ceil(Math.min(slowestMs, Math.max(fastestMs, elapsedMs / 10)) / 1000) * 1000;
}

/** When the job is polled next, epoch ms; 0 (at once) when this process has never polled it. */
export function pollTime(observation: Observation, job: JobStatus): number {
  const { now, status } = observation;
  const { polledAt, pollAfterMs = 0 } = observation.process;
  const failure = status.failures?.poll?.subject === job.id ? status.failures.poll : undefined;
  // The interval follows the job's age at the last poll. An interval that grew meanwhile would wake for nothing.
  const elapsedMs = Math.max(0, (polledAt ?? now) - (readInstant(job.startTime) ?? now));
  const ownMs = job.verdict === 'TimedOut' ? lateMs : pollIntervalMs(elapsedMs);
  const intervalMs = Math.max(ownMs, Math.ceil(Math.min(pollAfterMs, longestAskedMs) / 1000) * 1000);
  const next = polledAt === undefined || polledAt > now ? 0 : polledAt + intervalMs;
  return Math.max(next, retryTime(failure, now) ?? 0, rateLimitTime(observation) ?? 0);
}
