// Limits how much spare memory V8 takes for a program whose requests leave little behind. By default the young
// generation grows to 48 MB under load and stays there. The old generation is collected only at twice the size of its
// live objects. Refuses to limit what a program may keep; the container's memory limit does that.
// Command-line flags could do the same, but V8 then refuses its compile cache.

import { setFlagsFromString } from 'node:v8';

/**
 * From now on, for this process and its later threads: the young generation does not grow (3 MB where the program has
 * just begun), and the old one is collected when it has grown by a quarter. Collections cost some hundredths of the
 * processor's time more.
 */
export function keepHeapSmall(): void {
  growBy(25);
}

/**
 * For a program whose readers wait during each collection of the old generation: 10 to 30 ms where threads use every
 * processor. The young generation does not grow, and the old one is collected when it is three times as large. Later
 * threads, which last for seconds, collect theirs at 64 MB first; the bytes that they decode count towards it.
 */
export function keepCollectionsRare(): void {
  growBy(200);
  setFlagsFromString('--initial-old-space-size=64');
}

/** @param percent garbage before the old generation is collected, of its live objects after the last collection */
function growBy(percent: number): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
