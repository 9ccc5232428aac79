// The SQLite file of the data folder: opening, schema, transactions, and the secret that signs links. Owns durability
// (WAL, full sync) and the rule that one process at a time has the folder.
// Invariant: after any kill the file holds exactly the transitions that were committed.

import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#platform/runtime/folder.ts';
import type { Random } from '#platform/runtime/random.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

/**
 * Raised only where earlier releases can no longer use the folder. A further table does not raise it, because a rollback to
 * an earlier release would then end all exports.
 */
const schemaVersion = 4;
/**
 * Of builds before the first release: 4 with one more table. Never used again, because the first release opens such a folder:
 * the version after 4 is 6.
 */
const unreleasedVersion = 5;

const schema = `
CREATE TABLE IF NOT EXISTS jobs (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  domain TEXT NOT NULL,
  base_path TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  page_count INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  archive_bytes INTEGER,
  archive_sha256 TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS jobs_by_status ON jobs (status, sequence);
CREATE INDEX IF NOT EXISTS jobs_by_domain ON jobs (domain, used_at);
CREATE TABLE IF NOT EXISTS project_starts (started_at INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS project_starts_by_time ON project_starts (started_at);
CREATE TABLE IF NOT EXISTS start_keys (
  credential TEXT NOT NULL,
  key TEXT NOT NULL,
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  PRIMARY KEY (credential, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS start_keys_by_job ON start_keys (job_id);
CREATE TABLE IF NOT EXISTS issue_keys (
  credential TEXT NOT NULL,
  key TEXT NOT NULL,
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (credential, key, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS issue_keys_by_job ON issue_keys (job_id);
CREATE INDEX IF NOT EXISTS issue_keys_by_expiry ON issue_keys (expires_at);
CREATE TABLE IF NOT EXISTS kept_crawls (
  domain TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL,
  kept_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS link_secret (secret BLOB NOT NULL) STRICT;
`;

export interface Database {
  readonly connection: DatabaseSync;
  /** All of `work` or nothing of it. Not reentrant. */
  transact<T>(work: () => T): T;
  close(): void;
}

/**
 * @param directory created if absent
 * @throws {PublishableError} `StoreBusy` (another process has it), `StoreTooNew`, `StoreUnusable`
 */
export async function openJobDatabase(directory: string): Promise<Database> {
  const connection = await openFile(directory);
  try {
    // Exclusive from the first statement on: a second process fails at its start, not in the middle of a job.
    connection.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; BEGIN IMMEDIATE; COMMIT;',
    );
    migrate(connection);
  } catch (cause) {
    connection.close();
    throw cause instanceof PublishableError ? cause : storeError(cause);
  }
  const transact = <T>(work: () => T): T => {
    connection.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      connection.exec('COMMIT');
      return result;
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  };
  return {
    connection,
    transact,
    close: () => connection.close(),
  };
}

async function openFile(directory: string): Promise<DatabaseSync> {
  try {
    await makeFolder(directory, 0o700);
    const path = join(directory, 'state.sqlite');
    return openSqlite(path);
  } catch (cause) {
    throw storeError(cause);
  }
}

/** Its own user's alone: it holds the secret that signs links, or conversations. Files that SQLite adds get the same mode. */
export function openSqlite(path: string): DatabaseSync {
  // Not imported: Node 20 has no such module, see runtime/supported-node.ts.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const connection = new DatabaseSync(path, { timeout: 0 });
  chmodSync(path, 0o600);
  return connection;
}

/** The secret that signs links, made at the first start. */
export function loadLinkSecret({ connection, transact }: Database, random: Random): Uint8Array {
  return transact(() => {
    const stored = connection.prepare('SELECT secret FROM link_secret').get()?.['secret'];
    if (stored instanceof Uint8Array) return stored;
    const secret = random.bytes(32);
    connection.prepare('INSERT INTO link_secret (secret) VALUES (?)').run(secret);
    return secret;
  });
}

/** Conversations have files of their own; of an older version nothing of them stays. */
const dropped = 'DROP TABLE IF EXISTS conversations; DROP TABLE IF EXISTS current_load;';

/** What the table of jobs lacks before version 4. */
const newColumns = 'ALTER TABLE jobs ADD COLUMN base_path TEXT;';

function migrate(connection: DatabaseSync): void {
  const version = Number(connection.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (version > schemaVersion && version !== unreleasedVersion) {
    throw new PublishableError(
      'StoreTooNew',
      'the data folder was written by a newer export-service: use that one',
    );
  }
  const added = version > 0 && version < 4 ? newColumns : '';
  // SQLite writes the version also where it is the same, and a full volume refuses every write.
  const raised = version === schemaVersion ? '' : `PRAGMA user_version = ${schemaVersion};`;
  // Also for its own version: the release that made the folder may have had fewer tables.
  connection.exec(`BEGIN IMMEDIATE; ${dropped} ${schema} ${added} ${raised} COMMIT;`);
}

function storeError(cause: unknown): PublishableError {
  const isBusy = cause instanceof Error && /database is locked/.test(cause.message);
  return isBusy
    ? new PublishableError(
        'StoreBusy',
        'another export-service uses this data folder: stop it, or choose another folder',
        {
          cause,
        },
      )
    : new PublishableError(
        'StoreUnusable',
        'the data folder cannot be used: check that it may be written and that state.sqlite in it is whole',
        { cause },
      );
}
