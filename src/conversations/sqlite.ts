// Opens a SQLite file that only its owner may read. Owns the settings that survive a kill at any moment. Refuses a journal in
// memory, because a process that is killed in a transaction would leave a damaged file.

import { open } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { publishableCode } from '#platform/wire/publishable-error.ts';

/**
 * @param path empty: a file of its own that ends with the connection
 * @param isDurable whether a commit also survives a loss of power
 * @param busyMs the longest wait for another process
 */
export async function openDatabase(
  path: string,
  { isDurable, busyMs }: { readonly isDurable: boolean; readonly busyMs: number },
): Promise<DatabaseSync> {
  // SQLite gives its journal the permissions of the file.
  if (path !== '') await (await open(path, 'a', 0o600)).close();
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path);
  try {
    database.exec(
      `PRAGMA busy_timeout = ${busyMs}; PRAGMA journal_mode = DELETE; PRAGMA synchronous = ${isDurable ? 'FULL' : 'OFF'}`,
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** All of `work`, or nothing. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk has rolled back already.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Of SQLite, or of the file system before SQLite has the file. SQLite's own words hold no text of a row. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  (/disk is full/.test(error.message) || ['ENOSPC', 'EDQUOT'].includes(publishableCode(error)));

export const numberIn = (row: Readonly<Record<string, unknown>> | undefined, column: string): number => {
  const value = row?.[column];
  return typeof value === 'number' ? value : 0;
};
