// Turns in a SQLite file: one row for each key, in its last form, and its sources in a table of their own. Owns the tables.
// Refuses a file that is not of this program. Several projects may share one file.

import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#platform/runtime/folder.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Sink } from '../sink.ts';
import { isDiskFull, numberIn, openDatabase } from '../sqlite.ts';
import { turnColumns } from '../turn.ts';

/** "SXCT", so that a file of another program is recognized. */
const applicationId = 0x53584354;
const formatVersion = 1;

/** `sources` have a table of their own. */
const columns = turnColumns.filter((name) => name !== 'sources');
const required: ReadonlySet<string> = new Set(['project', 'content_hash', 'change', 'observed_at']);
const definitionOf = (column: string): string =>
  `${column} TEXT${column === 'turn_key' ? ' PRIMARY KEY' : required.has(column) ? ' NOT NULL' : ''}`;

/** Turns have a rowid: without one, SQLite gives each turn of more than a kilobyte a page of its own. */
const tables = `
  CREATE TABLE turns (${columns.map(definitionOf).join(', ')});
  CREATE INDEX turns_timestamp ON turns (project, timestamp);
  CREATE TABLE sources (
    turn_key TEXT NOT NULL REFERENCES turns (turn_key) ON DELETE CASCADE, position INTEGER NOT NULL,
    title TEXT NOT NULL, url TEXT NOT NULL, PRIMARY KEY (turn_key, position)
  ) WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};`;

/** @throws {PublishableError} `DestinationExists`, `DestinationBusy` */
export async function openTurnsDatabase(path: string): Promise<DatabaseSync> {
  await makeFolder(dirname(path), 0o700);
  const database = await openDatabase(path, { isDurable: true, busyMs: 10_000 }).catch((cause: unknown) => {
    throw faultOf(cause);
  });
  try {
    database.exec('PRAGMA foreign_keys = ON; BEGIN IMMEDIATE');
    const id = numberIn(database.prepare('PRAGMA application_id').get(), 'application_id');
    const version = numberIn(database.prepare('PRAGMA user_version').get(), 'user_version');
    const isEmpty = database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
    if (isEmpty && id === 0) database.exec(tables);
    else if (id !== applicationId || version !== formatVersion) throw foreign();
    else addNewColumns(database);
    database.exec('COMMIT');
    return database;
  } catch (error) {
    database.close();
    throw faultOf(error);
  }
}

/** A file of an earlier version gets the columns that it lacks; rows of it hold null there. */
function addNewColumns(database: DatabaseSync): void {
  const present = database.prepare('SELECT name FROM pragma_table_info(?)').all('turns');
  const names = new Set(present.map(({ name }) => name));
  for (const column of columns)
    if (!names.has(column)) database.exec(`ALTER TABLE turns ADD COLUMN ${definitionOf(column)}`);
}

export async function openSqliteSink(path: string): Promise<Sink> {
  const database = await openTurnsDatabase(path);
  const marks = columns.map(() => '?').join(', ');
  const changed = columns.slice(1).map((column) => `${column} = excluded.${column}`);
  const upsert = database.prepare(
    `INSERT INTO turns (${columns.join(', ')}) VALUES (${marks}) ON CONFLICT (turn_key) DO UPDATE SET ${changed.join(', ')}`,
  );
  const forgetSources = database.prepare('DELETE FROM sources WHERE turn_key = ?');
  const addSource = database.prepare(
    'INSERT INTO sources (turn_key, position, title, url) VALUES (?, ?, ?, ?)',
  );
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      throw faultOf(error);
    }
  };
  return {
    write: async (turns) =>
      attempt(() => {
        // A reader sees a page as a whole.
        if (!database.isTransaction) database.exec('BEGIN IMMEDIATE');
        for (const turn of turns) {
          upsert.run(...columns.map((column) => turn[column]));
          forgetSources.run(turn.turn_key);
          for (const [position, { title, url }] of turn.sources.entries())
            addSource.run(turn.turn_key, position, title, url);
        }
      }),
    isFull: () => true,
    flush: async () => {
      attempt(() => {
        if (database.isTransaction) database.exec('COMMIT');
      });
      return new Map();
    },
    close: async () => database.close(),
  };
}

const foreign = (): PublishableError =>
  new PublishableError(
    'DestinationExists',
    '--to is a file of another program or version; name another file',
  );

/** SQLite's own words name a problem, and hold no text of a row. */
function faultOf(cause: unknown): unknown {
  if (cause instanceof PublishableError || !(cause instanceof Error)) return cause;
  if (/not a database/.test(cause.message)) return foreign();
  const failed = (code: string, message: string): PublishableError =>
    new PublishableError(code, message, { cause });
  if (/database is locked/.test(cause.message))
    return failed(
      'DestinationBusy',
      '--to is in use by another program; run the command again when it is free',
    );
  if (isDiskFull(cause))
    return failed(
      'DestinationFull',
      '--to could not be written: its disk is full. Free space, and run the command again',
    );
  return cause;
}
