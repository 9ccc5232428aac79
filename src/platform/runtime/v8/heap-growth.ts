// Limits how much spare memory V8 takes for a program whose requests leave little behind. By default the young
// generation grows to 48 MB under load and stays there. The old generation is collected only at twice the size of its
// live objects. Refuses to limit what a program may keep; the container's memory limit does that.
// Command-line flags could do the same, but V8 then refuses its compile cache.

import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/**
 * From now on, for this process and its later threads: the young generation does not grow (3 MB where the program has
 * just begun), and the old one is collected when it has grown by a quarter. Collections cost some hundredths of the
 * processor's time more.
 */
export function keepHeapSmall(): void {
  growBy(leastPercent);
}

const leastPercent = 25;
const mostPercent = 200;
/** Garbage that a program with a small heap may keep between two collections. */
const spareBytes = 24 * 1024 * 1024;

/**
 * For a program whose readers wait during each collection of the old generation: 10 to 30 ms where threads use every
 * processor. The young generation does not grow, and the old one is collected after 24 MB of garbage, at three times its
 * size at most. Later threads, which last for seconds, collect theirs at 64 MB first; the bytes that they decode count
 * towards it. To be called again when the program holds more or less than before.
 */
export function keepCollectionsRare(): void {
  growBy(growingPercent(getHeapStatistics().used_heap_size));
  setFlagsFromString('--initial-old-space-size=64');
}

/** @returns how much the old generation may grow: for a large heap as in {@link keepHeapSmall} */
export function growingPercent(usedBytes: number): number {
  const percent = Math.round((100 * spareBytes) / usedBytes);
  return Math.min(mostPercent, Math.max(leastPercent, percent));
}

/** @param percent garbage before the old generation is collected, of its live objects after the last collection */
function growBy(percent: number): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
