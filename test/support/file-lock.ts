// A lock between processes that a killed holder leaves behind for nobody: the kernel drops it with the process. It is
// SQLite's own lock on a file, because Node has no flock.

import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const askAgainMs = 250;
/** SQLITE_BUSY: another connection holds it. */
const busy = 5;

/**
 * Runs `work` while no other process holds the lock.
 * @param file made where it is not there; nothing is stored in it
 * @param onWait called several times a second while another process holds it
 */
export async function whileLocked<T>(file: string, work: () => Promise<T>, onWait: () => void): Promise<T> {
  const database = new DatabaseSync(file);
  try {
    while (!isTaken(database)) {
      onWait();
      await sleep(askAgainMs);
    }
    return await work();
  } finally {
    database.close();
  }
}

function isTaken(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return false;
    throw error;
  }
}
