// The worker's side of checking a stored bundle: hashes every file of the pack, then hands over the index in
// slices, one for each time it is asked. Owns nothing beyond that.
// Invariant: nothing is handed over before all of it was checked.

import type { MessagePort } from 'node:worker_threads';
import { type CheckOrder, type CheckReport, nextSlice, sliceRows } from './check-message.ts';
import { checkBundle } from './store-check.ts';
import { systemDisk } from './store-disk.ts';
import { storeFault } from './store-fault.ts';

/** Resolves when the last slice was asked for and sent. Never rejects. */
export async function runCheck({ folder, digest }: CheckOrder, port: MessagePort): Promise<void> {
  const say = (report: CheckReport): void => port.postMessage(report);
  try {
    const document = await checkBundle(folder, digest, systemDisk);
    if (document === undefined) {
      say({ type: 'bad' });
      return;
    }
    const { files, pages, sizeBytes, notes } = document.index;
    let sent = 0;
    await new Promise<void>((resolve) => {
      port.on('message', (word) => {
        if (word !== nextSlice) return;
        say({ type: 'rows', rows: files.slice(sent, sent + sliceRows) });
        sent += sliceRows;
        if (sent >= files.length) resolve();
      });
      say({ type: 'whole', pages, sizeBytes, files: files.length, notes });
      if (files.length === 0) resolve();
    });
  } catch (error) {
    const { code, message } = storeFault(error);
    say({ type: 'failed', code, message });
  } finally {
    port.close();
  }
}
