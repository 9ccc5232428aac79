// Ends this process when it runs for too long, also where a test never gives its thread back: a thread of its own keeps
// the time. Node's timeout alone is a signal that such a process does not handle.

import { Worker } from 'node:worker_threads';

const program = `
const { workerData: { limitMs, files, current } } = require('node:worker_threads');
setTimeout(() => {
  const file = files[Atomics.load(current, 0)];
  require('node:fs').writeSync(2, 'ended after ' + limitMs / 1000 + ' s: ' + file + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, limitMs);`;

/** @returns to be called with the index of each file whose tests begin: the last one is named at the end */
export function endProcessAfter(limitMs: number, files: readonly string[]): (index: number) => void {
  const current = new Int32Array(new SharedArrayBuffer(4));
  new Worker(program, { eval: true, workerData: { limitMs, files, current } }).unref();
  return (index) => {
    Atomics.store(current, 0, index);
  };
}
