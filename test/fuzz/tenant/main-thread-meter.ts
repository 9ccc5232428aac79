// Loaded into the operator's process with `--import`. Measures how long the main thread stays away from the event loop,
// in time of the clock and in processor time. Other programs on the machine lengthen only the first.

import { openSync, writeSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env['MAIN_THREAD_METER'];
const tickMs = 10;
const reportEveryMs = 250;

// Worker threads load what their process loads.
if (file !== undefined && isMainThread) {
  const descriptor = openSync(file, 'a');
  const delay = monitorEventLoopDelay({ resolution: tickMs });
  delay.enable();
  let last = process.threadCpuUsage();
  let longestBusyUs = 0;
  setInterval(() => {
    const now = process.threadCpuUsage();
    longestBusyUs = Math.max(longestBusyUs, now.user + now.system - last.user - last.system);
    last = now;
  }, tickMs).unref();
  setInterval(() => {
    const line = {
      at: Date.now(),
      pauseMs: delay.max / 1e6,
      busyMs: longestBusyUs / 1000,
      cpuMs: (last.user + last.system) / 1000,
    };
    writeSync(descriptor, `${JSON.stringify(line)}\n`);
    delay.reset();
    longestBusyUs = 0;
  }, reportEveryMs).unref();
}
