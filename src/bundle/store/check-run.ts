// The worker's side of checking a stored bundle: hashes every file of the pack, then hands the index over.
// Invariant: nothing is handed over before all of it was checked.

import { answerSlices, reportOf, type ThreadPort } from '../thread/thread-answer.ts';
import { summaryOf, type ThreadReport } from '../thread/thread-message.ts';
import type { CheckOrder } from './check-order.ts';
import { checkBundle } from './store-check.ts';
import { systemDisk } from './store-disk.ts';
import { storeFault } from './store-fault.ts';

/** Never rejects. */
export async function runCheck({ folder, digest }: CheckOrder, port: ThreadPort): Promise<void> {
  const say = (report: ThreadReport): void => port.postMessage(report);
  try {
    const document = await checkBundle(folder, digest, systemDisk);
    if (document === undefined) {
      say({ type: 'bad' });
      return;
    }
    say({ type: 'done', summary: summaryOf(document.index) });
    answerSlices(document.index.files, port);
  } catch (error) {
    say(reportOf(storeFault(error)));
  }
}
