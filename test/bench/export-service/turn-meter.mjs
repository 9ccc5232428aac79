// Loaded into a program under test (`--import`): the most processor time that its main thread spent between two turns of
// its loop, written every 250 ms to the file that TURN_METER names. Processor time, so that a busy machine adds nothing. The
// first turn is left out: it evaluates the program's own text, whatever it is given to list.

import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env.TURN_METER;
if (isMainThread && file !== undefined) {
  let last;
  let longestMs = 0;
  setInterval(() => {
    const now = process.threadCpuUsage();
    last ??= now;
    longestMs = Math.max(longestMs, (now.user + now.system - last.user - last.system) / 1000);
    last = now;
  }, 2).unref();
  setInterval(() => {
    appendFileSync(file, `${Date.now()} ${longestMs.toFixed(1)}\n`);
    longestMs = 0;
  }, 250).unref();
}
