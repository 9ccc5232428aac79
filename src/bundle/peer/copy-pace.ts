// How fast a copy must come to be useful. The receiving server abandons a slower copy, and the sending server cuts it.
// Both use the same measure during the whole copy. Pure.

/**
 * Far below what a cluster's network gives to each of the copies that one server sends at once. A slower client holds a
 * slot that the other servers need.
 */
const leastBytesPerSecond = 4 * 1024 * 1024;
const graceMs = 5_000;

/** For all of it, whatever it is. */
export function longestCopyMs(bytes: number): number {
  return graceMs + (bytes / leastBytesPerSecond) * 1000;
}

/** Whether what came so far should have come sooner. */
export function isTooSlow(receivedBytes: number, elapsedMs: number): boolean {
  return elapsedMs > longestCopyMs(receivedBytes);
}
