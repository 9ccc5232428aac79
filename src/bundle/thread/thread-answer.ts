// The thread's side of its conversation (thread-message.ts): handing the index over, one slice for each time it is
// asked, and telling a failure. The starter's side is thread-work.ts.

import type { MessagePort } from 'node:worker_threads';
import type { BundleError } from '../bundle-error.ts';
import type { BundleFile } from '../bundle-index.ts';
import { nextSlice, sliceRows, type ThreadReport } from './thread-message.ts';

/** The port of a thread, as far as it is spoken over here. */
export type ThreadPort = Pick<MessagePort, 'postMessage' | 'on' | 'close'>;

/**
 * Answers requests for slices until the last row has gone. To be called when `done` was said; a starter that wants
 * none of them ends the thread instead.
 */
export function answerSlices(files: readonly BundleFile[], port: ThreadPort): void {
  let sent = 0;
  port.on('message', (word) => {
    if (word !== nextSlice) return;
    const rows = files.slice(sent, sent + sliceRows);
    sent += rows.length;
    const report: ThreadReport = { type: 'rows', rows };
    port.postMessage(report);
    if (sent >= files.length) port.close();
  });
}

export function reportOf({ kind, code, message }: BundleError): ThreadReport {
  return { type: 'failed', kind, code, message };
}
