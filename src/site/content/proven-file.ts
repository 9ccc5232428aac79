// Large files in the first moments after a start. They are sent in parts, and a part has no hash of its own: the check of
// the bundle has to prove the file first. Refuses to wait for ever: a proxy in front gives up after a minute.

import type { PackedBytes, StoredBundle } from '../../bundle/store/stored-bundle.ts';
import type { Clock } from '../../runtime/clock.ts';
import { waitAtMost } from '../../runtime/time-limit.ts';

const longestWaitMs = 30_000;

/**
 * @returns false where the check takes too long
 * @throws where it failed before it came to the file
 */
export async function isProvenInTime(
  pack: StoredBundle,
  file: PackedBytes,
  clock: Pick<Clock, 'after'>,
): Promise<boolean> {
  const proven = pack.untilProven(file);
  if (proven === undefined) return true;
  const { signal } = new AbortController();
  return (
    (await waitAtMost(
      proven.then(() => true),
      longestWaitMs,
      clock,
      signal,
    )) ?? false
  );
}
