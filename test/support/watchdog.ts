// Ends work that would not end by itself. Not a measure of time: what is linear in its input is through in a
// hundredth of the patience, and what is not would take longer than anybody waits.

import { runInNewContext } from 'node:vm';

const patienceMs = 5000;

/** Runs `work`, which neither waits nor calls back. @throws when it has not come to its end, regular expressions included */
export function runToItsEnd(work: () => void): void {
  runInNewContext('work()', { work }, { timeout: patienceMs });
}
