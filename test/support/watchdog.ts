// Ends work that would not end by itself. Not a measure of time: what is linear in its input is through in a
// hundredth of the patience, and what is not would take longer than anybody waits.

import { types } from 'node:util';
import { createContext, Script } from 'node:vm';

/** Of the wall, at first; a machine may stand still for all of it. */
const firstTimeoutMs = 5000;
const maxCpuMs = 4000;
const lateCode = 'ERR_SCRIPT_EXECUTION_TIMEOUT';
// One for all work: a new context costs more than most of what runs in it.
const running: { work?: () => void } = {};
const context = createContext(running);
const script = new Script('work()');

/**
 * Runs `work`, which neither waits nor calls back, and may be run again. A thread that gets no turn is given more time.
 *
 * @throws when it has not come to its end with that much CPU time, regular expressions included
 */
export function runToItsEnd(work: () => void): void {
  for (let timeoutMs = firstTimeoutMs; ; timeoutMs *= 2) {
    const before = process.threadCpuUsage();
    try {
      running.work = work;
      script.runInContext(context, { timeout: timeoutMs });
      return;
    } catch (error) {
      const { user, system } = process.threadCpuUsage(before);
      // Not `instanceof Error`: the error is of the new context.
      const isLate = types.isNativeError(error) && 'code' in error && error.code === lateCode;
      if (!isLate || (user + system) / 1000 > maxCpuMs) throw error;
    }
  }
}
