// Ends work that would not end by itself. Not a measure of time: what is linear in its input is through in a
// hundredth of the patience, and what is not would take longer than anybody waits.

import { types } from 'node:util';
import { createContext, Script } from 'node:vm';

const patienceMs = 5000;
/** The patience is time of the wall, and a machine may stand still for all of it. */
const maxAttempts = 3;
const lateCode = 'ERR_SCRIPT_EXECUTION_TIMEOUT';
// One for all work: a new context costs more than most of what runs in it.
const running: { work?: () => void } = {};
const context = createContext(running);
const script = new Script('work()');

/**
 * Runs `work`, which neither waits nor calls back, and may be run again.
 *
 * @throws when it has not come to its end in any of three attempts, regular expressions included
 */
export function runToItsEnd(work: () => void): void {
  for (let attempts = 1; ; attempts += 1) {
    try {
      running.work = work;
      script.runInContext(context, { timeout: patienceMs });
      return;
    } catch (error) {
      // Not `instanceof Error`: the error is of the new context.
      const isLate = types.isNativeError(error) && 'code' in error && error.code === lateCode;
      if (!isLate || attempts === maxAttempts) throw error;
    }
  }
}
