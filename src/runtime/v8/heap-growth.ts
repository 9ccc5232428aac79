// How much room V8 gives to a program whose requests leave little behind: not much more than it needs. Left alone, the
// young generation grows to 48 MB under load and stays there, and the old one is collected when it is twice as large as
// what lives in it. Refuses: a limit on what a program may keep; that is its container's.

import { setFlagsFromString } from 'node:v8';

/** What may be dead before the old generation is collected, in hundredths of what lived after the last time. */
const growingPercent = 25;

/**
 * From now on, for this process and its later threads: the young generation does not grow (3 MB where the program has
 * just begun), and the old one is collected when it has grown by a quarter. Collections cost some hundredths of the
 * processor's time more. A command line could say the same, but V8 then refuses what it compiled for a former start.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}
