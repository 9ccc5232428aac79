// The SQLite file of a journal: its tables, its version, and the site whose answers it holds. Refuses a file that is damaged,
// of another version or of another site. Values of an administrator's headers are secret: the file has a slow hash of them,
// because other headers get other answers. Invariant: a file that is opened has all tables.

import { scryptSync } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../../store/database.ts';
import type { CrawlRequest } from '../contract.ts';

/** Whose answers they are. Which of them robots.txt allows to ask for is the crawl's matter. */
export type JournalOwner = Pick<CrawlRequest, 'domain' | 'origin' | 'originHeaders'>;

/** Raise it with each change of the tables or of an answer's form: a crawl then starts from nothing. */
const journalVersion = 1;

const schema = `
CREATE TABLE owner (identity TEXT NOT NULL, headers_hash TEXT NOT NULL, starts INTEGER NOT NULL) STRICT;
CREATE TABLE answers (
  address TEXT NOT NULL,
  asks TEXT NOT NULL,
  sent TEXT NOT NULL,
  number INTEGER NOT NULL,
  taken_by INTEGER NOT NULL,
  entry TEXT NOT NULL,
  PRIMARY KEY (address, asks, sent, number)
) STRICT, WITHOUT ROWID;`;

/** Of a row: the next crawl may ask whether it changed. What an address that cannot exist has is always asked for. */
export const isReusable = "asks <> 'unknown' AND entry ->> '$.answer.validators' IS NOT NULL";

const fileName = 'answers.sqlite';

/** Names in a crawl's directory that are not bodies: the file, and what SQLite writes beside it. */
export const journalFileNames: readonly string[] = ['', '-wal', '-shm', '-journal'].map(
  (suffix) => `${fileName}${suffix}`,
);

export const hasJournal = (directory: string): boolean => existsSync(join(directory, fileName));

/** @returns `undefined` where the file cannot be used */
export function openJournalFile(directory: string, owner: JournalOwner): DatabaseSync | undefined {
  let connection: DatabaseSync | undefined;
  try {
    connection = openSqlite(join(directory, fileName));
    if (isWhole(connection) && isOwnedBy(connection, owner)) return connection;
  } catch {
    // It is not a database, or not one that can be read.
  }
  connection?.close();
  return undefined;
}

/** In place of what is there. @throws the file system's error, and SQLite's */
export function beginJournalFile(directory: string, owner: JournalOwner): DatabaseSync {
  for (const name of journalFileNames) rmSync(join(directory, name), { force: true });
  const connection = openSqlite(join(directory, fileName));
  try {
    connection.exec(`BEGIN; ${schema} PRAGMA user_version = ${journalVersion};`);
    const insert = connection.prepare('INSERT INTO owner VALUES (?, ?, 0)');
    insert.run(identityOf(owner), headersHashOf(owner));
    connection.exec('COMMIT');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function isWhole(connection: DatabaseSync): boolean {
  const version = connection.prepare('PRAGMA user_version').get()?.['user_version'];
  if (version !== journalVersion) return false;
  return connection.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
}

function isOwnedBy(connection: DatabaseSync, owner: JournalOwner): boolean {
  const row = connection.prepare('SELECT identity, headers_hash FROM owner').get() ?? {};
  return row['identity'] === identityOf(owner) && row['headers_hash'] === headersHashOf(owner);
}

function identityOf({ domain, origin, originHeaders = {} }: JournalOwner): string {
  return JSON.stringify([domain, origin.href, Object.keys(originHeaders).sort()]);
}

/** Slow, because a fast one would tell a reader of the file when a value was guessed. */
function headersHashOf(owner: JournalOwner): string {
  const headers = Object.entries(owner.originHeaders ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (headers.length === 0) return '';
  return scryptSync(JSON.stringify(headers), identityOf(owner), 32).toString('hex');
}
