// A lock between processes. The kernel releases it when its holder ends, however that is. It is SQLite's own lock on a file,
// because Node has no flock.

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
    while (!tryLock(database)) {
      onWait();
      await sleep(askAgainMs);
    }
    return await work();
  } finally {
    database.close();
  }
}

/** @returns whether this process has it now */
function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return false;
    throw error;
  }
}
