// What the next run needs to know: the windows that were read, the turns that were delivered as hashes, and the sizes of
// files. One SQLite file, one run at a time. Holds no text of a turn, no key and no link. Invariant: a commit says that a
// sink has all it names.

import { join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod/mini';
import { makeFolder } from '#platform/runtime/folder.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { createKnownTurns, type KnownTurns, knownTurnsTable, type TurnBatch } from './known-turns.ts';
import { inTransaction, isDiskFull, numberIn, openDatabase } from './sqlite.ts';
import { type ReadWindows, windowsSchema } from './windows.ts';

/** Whose turns these are, and where they went. Each by the name of its flag. */
export type StateIdentity = Readonly<Record<string, string>>;

const identitySchema = z.record(z.string(), z.string());

export interface ConversationState {
  readonly windows: ReadWindows;
  /** Start of a cycle that did not end, epoch ms. */
  readonly cycle: number | undefined;
  /** Length of the next window, from what the last ones held. */
  readonly stepMs: number | undefined;
  readonly known: KnownTurns;
  /** Of each reading of a window another one, also across runs. */
  nextReading(): number;
  beginCycle(cycle: number): void;
  endCycle(): void;
  closeWindow(windows: ReadWindows, stepMs: number): void;
  commit(batch: TurnBatch, parts: ReadonlyMap<string, number>): void;
  /** Bytes of a file that earlier commits name; `undefined` for a file that this state never wrote. */
  partSize(name: string): number | undefined;
  /** Before the first byte is written, so that a killed run leaves no file that looks foreign. */
  registerPart(name: string): void;
  /** Turns before it were removed, and do not come back; epoch ms. */
  readonly prunedBefore: number;
  /** @returns how many turns it has forgotten */
  prune(before: number): number;
  /** How many files or objects commits name: the number of the next one. */
  committedParts(): number;
  close(): void;
}

const format = 1;

/**
 * @param folder created if absent, for its owner alone; `undefined`: in a file that ends with the process
 * @param names whether `identity` has all names of the state's, or some
 * @throws {PublishableError} `StateBusy`, `StateMismatch`, `StateInvalid`, `StateUnusable`, `StateFull`
 */
export async function openState(
  folder: string | undefined,
  identity: StateIdentity,
  names: 'all' | 'part' = 'all',
): Promise<ConversationState> {
  try {
    if (folder !== undefined) await makeFolder(resolve(folder), 0o700);
    const database = await openDatabase(
      folder === undefined ? '' : join(resolve(folder), 'conversations.sqlite'),
      { isDurable: folder !== undefined, busyMs: 0 },
    );
    try {
      lock(database);
      requireIdentity(database, identity, names);
      return stateIn(database);
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw error instanceof PublishableError ? error : stateFault(error);
  }
}

/** The system releases the lock when the process ends, however it ends. */
function lock(database: DatabaseSync): void {
  database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  database.exec(
    `${knownTurnsTable}; CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID; CREATE TABLE IF NOT EXISTS part (name TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID; COMMIT`,
  );
}

function requireIdentity(database: DatabaseSync, identity: StateIdentity, known: 'all' | 'part'): void {
  const facts = factsIn(database);
  const stored = facts.read('identity');
  // A run that ended before its first turn, for example with a wrong key, decides nothing.
  if (stored === undefined || (known === 'all' && isUnused(database, facts))) {
    inTransaction(database, () => {
      facts.write('format', String(format));
      facts.write('identity', JSON.stringify(identity));
    });
    return;
  }
  const read = identitySchema.safeParse(readJson(stored));
  if (facts.read('format') !== String(format) || !read.success) throw invalid();
  const names = new Set([...Object.keys(identity), ...(known === 'all' ? Object.keys(read.data) : [])]);
  const different = [...names].filter((name) => identity[name] !== read.data[name]);
  if (different.length === 0) return;
  // What only one of both has follows from the rest: a key of redaction from --redact.
  const inBoth = different.filter((name) => name in identity && name in read.data);
  const named = (inBoth.length > 0 ? inBoth : different).join(', ');
  const message = `the state is of another ${named}; use the settings of the first run, or ${another}`;
  throw new PublishableError('StateMismatch', message);
}

const isUnused = (database: DatabaseSync, facts: Facts): boolean =>
  facts.read('windows') === undefined &&
  facts.read('prunedBefore') === undefined &&
  ['turn', 'part'].every((table) => database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined);

/** Another state alone would find files that it did not write. */
const another = 'name another --to and another folder with --state';

const invalid = (): PublishableError =>
  new PublishableError(
    'StateInvalid',
    `the state is damaged, or of another version of the program; ${another}`,
  );

function factsIn(database: DatabaseSync) {
  const select = database.prepare('SELECT value FROM fact WHERE name = ?');
  const upsert = database.prepare('INSERT OR REPLACE INTO fact (name, value) VALUES (?, ?)');
  return {
    read: (name: string): string | undefined => {
      const value = select.get(name)?.['value'];
      return typeof value === 'string' ? value : undefined;
    },
    write: (name: string, value: string): void => void upsert.run(name, value),
  };
}

type Facts = ReturnType<typeof factsIn>;

function stateIn(database: DatabaseSync): ConversationState {
  const facts = factsIn(database);
  const selectPart = database.prepare('SELECT size FROM part WHERE name = ?');
  const countParts = database.prepare('SELECT count(*) AS parts FROM part WHERE size > 0');
  const upsertPart = database.prepare('INSERT OR REPLACE INTO part (name, size) VALUES (?, ?)');
  const read = windowsSchema.safeParse(readJson(facts.read('windows') ?? '[]'));
  if (!read.success) throw invalid();
  let windows: ReadWindows = read.data;
  let reading = numberIn(database.prepare('SELECT max(reading) AS reading FROM turn').get(), 'reading');
  const write = (work: () => void): void => {
    try {
      inTransaction(database, work);
    } catch (error) {
      throw stateFault(error);
    }
  };
  return {
    get windows() {
      return windows;
    },
    get cycle() {
      const cycle = Number(facts.read('cycle') ?? 0);
      return cycle === 0 ? undefined : cycle;
    },
    get stepMs() {
      const stepMs = Number(facts.read('step') ?? 0);
      return stepMs === 0 ? undefined : stepMs;
    },
    known: createKnownTurns(database),
    nextReading: () => {
      reading += 1;
      return reading;
    },
    beginCycle: (cycle) => write(() => facts.write('cycle', String(cycle))),
    endCycle: () => write(() => facts.write('cycle', '0')),
    closeWindow: (next, stepMs) => {
      write(() => {
        facts.write('windows', JSON.stringify(next));
        facts.write('step', String(stepMs));
      });
      windows = next;
    },
    commit: (batch, parts) => {
      write(() => {
        batch.store();
        for (const [name, size] of parts) upsertPart.run(name, size);
      });
    },
    partSize: (name) => {
      const row = selectPart.get(name);
      return row === undefined ? undefined : numberIn(row, 'size');
    },
    get prunedBefore() {
      return Number(facts.read('prunedBefore') ?? 0);
    },
    prune: (before) => {
      let count = 0;
      write(() => {
        facts.write('prunedBefore', String(Math.max(before, Number(facts.read('prunedBefore') ?? 0))));
        count = Number(database.prepare('DELETE FROM turn WHERE at < ?').run(before).changes);
      });
      return count;
    },
    committedParts: () => numberIn(countParts.get(), 'parts'),
    registerPart: (name) => write(() => void upsertPart.run(name, 0)),
    close: () => database.close(),
  };
}

/** SQLite's own words name a problem, and hold no text of a row. */
function stateFault(cause: unknown): PublishableError {
  if (cause instanceof PublishableError) return cause;
  const text = cause instanceof Error && !(cause instanceof PublishableError) ? cause.message : '';
  if (/not a database|malformed/.test(text)) return invalid();
  if (/database is locked/.test(text)) {
    const message = 'another run uses this state folder; run the command again when it has ended';
    return new PublishableError('StateBusy', message, { kind: 'retry', cause });
  }
  const isFull = isDiskFull(cause);
  const reason = isFull
    ? 'its disk is full'
    : /readonly database/.test(text)
      ? 'it cannot be written'
      : publishableCode(cause);
  const message = `the state folder cannot be used: ${reason}. Free space, or name a folder that can be written with --state`;
  return new PublishableError(isFull ? 'StateFull' : 'StateUnusable', message, {
    cause,
  });
}
