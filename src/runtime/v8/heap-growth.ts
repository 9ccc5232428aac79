// Limits how much spare memory V8 takes for a program whose requests leave little behind. By default the young
// generation grows to 48 MB under load and stays there. The old generation is collected only at twice the size of its
// live objects. Refuses to limit what a program may keep; the container's memory limit does that.

import { setFlagsFromString } from 'node:v8';

/** Garbage allowed before the old generation is collected, in percent of its live objects after the last collection. */
const growingPercent = 25;

/**
 * From now on, for this process and its later threads: the young generation does not grow (3 MB where the program has
 * just begun), and the old one is collected when it has grown by a quarter. Collections cost some hundredths of the
 * processor's time more. Command-line flags could do the same, but V8 then refuses its compile cache.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}
