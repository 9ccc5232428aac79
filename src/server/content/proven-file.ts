// Large files in the first moments after a start. They are sent in parts, and a part has no hash of its own: the check of
// the bundle has to prove the file first. Waits at most 30 s, because a proxy in front gives up after a minute. Stops
// when the reader leaves.

import type { EventEmitter } from 'node:events';
import type { PackedBytes, StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { waitAtMost } from '#platform/runtime/time-limit.ts';

const longestWaitMs = 30_000;

/**
 * @param reader emits `close` when it has left
 * @returns false where the check takes too long, or the reader has left
 * @throws where it failed before it came to the file
 */
export async function isProvenInTime(
  pack: StoredBundle,
  file: PackedBytes,
  clock: Pick<Clock, 'after'>,
  reader: Pick<EventEmitter, 'once' | 'off'>,
): Promise<boolean> {
  const proven = pack.untilProven(file);
  if (proven === undefined) return true;
  const { promise: left, resolve } = Promise.withResolvers<false>();
  const leave = (): void => resolve(false);
  reader.once('close', leave);
  const { signal } = new AbortController();
  try {
    const inTime = waitAtMost(Promise.race([proven.then(() => true), left]), longestWaitMs, clock, signal);
    return (await inTime) ?? false;
  } finally {
    reader.off('close', leave);
  }
}
