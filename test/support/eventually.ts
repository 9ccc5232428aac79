// Waiting for something to become true in a real system: polled, bounded, and on failure it says what was last seen.

import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `look` until it returns a value other than `undefined`. Errors count as "not yet".
 * @throws Error with `what`, the limit and the last error
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  { timeoutMs = 30_000, everyMs = 100 }: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== undefined) return seen;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) {
      throw new Error(`not seen within ${timeoutMs} ms: ${what}`, { cause: last });
    }
    await sleep(everyMs);
  }
}

/** Long enough for three of the operator's checks that come once a minute. */
export const slowClusterTimeoutMs = 180_000;

/**
 * As `eventually`, in a cluster where other controllers work too: whole chains of reconciles, on a machine that they keep
 * busy. So the limit is long. Each check starts kubectl, so checks are rare. A test that uses it does not check speed.
 */
export const eventuallyInCluster: typeof eventually = (what, look, options) =>
  eventually(what, look, { timeoutMs: slowClusterTimeoutMs, everyMs: 250, ...options });
