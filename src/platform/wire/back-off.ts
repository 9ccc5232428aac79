// How long to wait after failures in a row: the one formula of every back-off. Refuses jitter and Retry-After, which are
// their callers' rules. Pure.

/** Milliseconds of the first wait, and of the longest. */
export type BackOff = readonly [firstMs: number, longestMs: number];

/**
 * Doubles with each further failure.
 *
 * @param failures in a row; without one, there is no wait
 */
export function backOffMs([firstMs, longestMs]: BackOff, failures: number): number {
  return failures <= 0 ? 0 : Math.min(longestMs, firstMs * 2 ** Math.min(30, failures - 1));
}
