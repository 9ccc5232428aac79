// The work of the thread that indexes conversations: reads the file, and makes an SQLite file with one row for each turn,
// found by project and cursor. Only this thread reads the file, however large or wrong it is. Refuses durability, because the
// index is made again at every start and after every change. Invariant: a task that fails leaves the listed index as it was.

import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { jsonText } from '#platform/wire/json-text.ts';
import { openSqlite } from '../store/database.ts';
import { cursorOf, type StoredConversation } from './cursor.ts';
import { readConversations, unreadable } from './file-lines.ts';

export interface IndexTask {
  readonly path: string;
  /** Of rows that name no project. */
  readonly defaultProject: string;
  /** Whether the end of the file may still be being written. */
  readonly mayGrow: boolean;
  readonly indexPath: string;
}

/**
 * @returns how many turns the index holds
 * @throws {PublishableError}
 */
export async function indexConversations({ path, indexPath, ...reading }: IndexTask): Promise<number> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw unreadable(cause);
  });
  try {
    return await buildIndex(indexPath, readConversations(handle, reading));
  } finally {
    await handle.close();
  }
}

/** The documents are in the order of the file. Positions are small, so random ones stay in SQLite's cache. */
const schema = `
CREATE TABLE turns (turn INTEGER PRIMARY KEY, document TEXT NOT NULL) STRICT;
CREATE TABLE positions (project TEXT NOT NULL, cursor TEXT NOT NULL, turn INTEGER NOT NULL,
  PRIMARY KEY (project, cursor)) STRICT, WITHOUT ROWID;`;

/** Of SQLite, while rows are written: in addition to the thread's heap. */
const cacheKib = 64 * 1024;

/**
 * A new index of these rows. An interrupted one at `path` is replaced. A row of a known turn replaces its document.
 * @returns how many turns it holds
 */
export async function buildIndex(path: string, rows: AsyncIterable<StoredConversation>): Promise<number> {
  rmSync(path, { force: true });
  const connection = openSqlite(path);
  try {
    connection.exec(
      `PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
       PRAGMA cache_size = -${cacheKib}; ${schema}`,
    );
    return await addRows(connection, rows);
  } finally {
    connection.close();
  }
}

async function addRows(connection: DatabaseSync, rows: AsyncIterable<StoredConversation>): Promise<number> {
  const addPosition = connection.prepare('INSERT OR IGNORE INTO positions VALUES (?, ?, ?)');
  const addTurn = connection.prepare('INSERT INTO turns VALUES (?, ?)');
  const replace = connection.prepare(
    'UPDATE turns SET document = ? WHERE turn = (SELECT turn FROM positions WHERE project = ? AND cursor = ?)',
  );
  connection.exec('BEGIN');
  let count = 0;
  for await (const row of rows) {
    const cursor = cursorOf(row);
    const document = jsonText(row.document);
    const isNew = addPosition.run(row.project, cursor, count + 1).changes !== 0;
    if (isNew) addTurn.run(++count, document);
    else replace.run(document, row.project, cursor);
  }
  connection.exec('COMMIT');
  return count;
}
