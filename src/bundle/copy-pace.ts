// How fast a copy must come to be of help: one that is slower is given up by whoever takes it, and cut by whoever
// gives it, so both go by the same measure. Pure.

/** A copy slower than this is no help: the link is as good. */
const leastBytesPerSecond = 1024 * 1024;
const graceMs = 10_000;

/** For all of it, whatever it is. */
export function longestCopyMs(bytes: number): number {
  return graceMs + (bytes / leastBytesPerSecond) * 1000;
}

/** Whether what came so far should have come sooner. */
export function isTooSlow(receivedBytes: number, elapsedMs: number): boolean {
  return elapsedMs > longestCopyMs(receivedBytes);
}
