// Reads turns back from what an export wrote: a folder of NDJSON parts, one NDJSON file, or a SQLite file. Each turn comes
// once, in its last form, day after day. Refuses: a line that is not a turn, and keeping turns in memory.

import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod/mini';
import { readJson, wellFormedText } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { type Turn, turnSchema } from './turn.ts';

/** What readers of a store use. */
export type StoredTurn = Pick<
  Turn,
  | 'turn_key'
  | 'project'
  | 'conversation'
  | 'timestamp'
  | 'query'
  | 'category'
  | 'resolution_status'
  | 'page_url'
  | 'sources'
>;

const storedTurn = z.pick(turnSchema, {
  turn_key: true,
  project: true,
  conversation: true,
  timestamp: true,
  query: true,
  category: true,
  resolution_status: true,
  page_url: true,
  sources: true,
});

const readable = 'name what "conversations export" wrote with --format ndjson or sqlite';

/** Of one turn, its answer included. */
const longestLine = 16 * 1024 * 1024;

/** @throws {PublishableError} `StoreUnreadable`, `StoreEmpty`, `StoreInvalid` */
export async function* readStoredTurns(path: string): AsyncGenerator<StoredTurn> {
  const kind = await stat(path).catch(unreadable);
  if (kind.isDirectory()) {
    const names = (await readdir(path).catch(unreadable))
      .filter((name) => /\.(?:ndjson|jsonl)$/.test(name))
      .sort();
    if (names.length === 0) {
      const message = `--from is a folder without an .ndjson file; ${readable}`;
      throw new PublishableError('StoreEmpty', message);
    }
    for (const name of names) yield* readLineFile(join(path, name), name);
  } else if (await isSqlite(path)) yield* readSqlite(path);
  else yield* readLineFile(path, '--from');
}

/** A changed turn is one more line with its key, in the same file. */
async function* readLineFile(path: string, name: string): AsyncGenerator<StoredTurn> {
  const lastLines = new Map<number, number>();
  let lineNumber = 0;
  for await (const line of linesOf(path, name)) {
    lineNumber += 1;
    // Within a text, quotes are escaped.
    if (line.includes('"change":"update"'))
      lastLines.set(shortKey(parseTurn(line, name, lineNumber)), lineNumber);
  }
  lineNumber = 0;
  for await (const line of linesOf(path, name)) {
    lineNumber += 1;
    if (line.trim() === '') continue;
    const turn = parseTurn(line, name, lineNumber);
    if ((lastLines.get(shortKey(turn)) ?? lineNumber) === lineNumber) yield turn;
  }
}

/** 52 bits: two of a million turns share one with the probability of 1 in 10,000, and one is then counted once less. */
const shortKey = ({ turn_key: key }: StoredTurn): number => Number.parseInt(key.slice(0, 13), 16);

/** One buffer for the whole file: chunks of a stream stay outside of the heap until V8 collects, at hundreds of megabytes. */
async function* linesOf(path: string, name: string): AsyncGenerator<string> {
  const file = await open(path, 'r').catch(unreadable);
  try {
    let buffer = Buffer.allocUnsafe(256 * 1024);
    let lineNumber = 1;
    let filled = 0;
    for (;;) {
      if (filled === buffer.length) {
        if (filled >= longestLine) throw invalid(name, lineNumber);
        buffer = Buffer.concat([buffer], filled * 2);
      }
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, null).catch(unreadable);
      // Text after the last line feed is a line that is being written.
      if (bytesRead === 0) return;
      let start = 0;
      let end = buffer.indexOf(lineFeed, filled);
      filled += bytesRead;
      for (; end >= 0 && end < filled; end = buffer.indexOf(lineFeed, start)) {
        yield buffer.toString('utf8', start, end);
        lineNumber += 1;
        start = end + 1;
      }
      buffer.copyWithin(0, start, filled);
      filled -= start;
    }
  } finally {
    await file.close();
  }
}

const lineFeed = 0x0a;

function parseTurn(line: string, name: string, lineNumber: number): StoredTurn {
  // Earlier versions wrote halves of surrogate pairs.
  const json = readJson(line, /\\ud/i.test(line) ? wellFormedText : undefined);
  const parsed = storedTurn.safeParse(json);
  if (!parsed.success) throw invalid(name, lineNumber);
  return parsed.data;
}

const invalid = (name: string, line: number): PublishableError =>
  new PublishableError('StoreInvalid', `line ${line} of ${printable(name)} is not a turn; ${readable}`);

function unreadable(cause: unknown): never {
  const code = publishableCode(cause);
  const message =
    code === 'ENOENT'
      ? '--from does not exist; check its path'
      : `--from cannot be read (${code}); check its path and permissions`;
  throw new PublishableError('StoreUnreadable', message, { cause });
}

async function isSqlite(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(unreadable);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    return buffer.toString('latin1', 0, bytesRead) === 'SQLite format 3\0';
  } finally {
    await file.close();
  }
}

/** In the order of time, so that clusters of questions begin with the same leaders in every run. */
const selectTurns =
  'SELECT turn_key, project, conversation, timestamp, query, category, resolution_status, page_url FROM turns ORDER BY timestamp, turn_key';
const selectSources = 'SELECT title, url FROM sources WHERE turn_key = ? ORDER BY position';

async function* readSqlite(path: string): AsyncGenerator<StoredTurn> {
  const { DatabaseSync } = await import('node:sqlite');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const sources = database.prepare(selectSources);
    for (const row of database.prepare(selectTurns).iterate()) {
      const parsed = storedTurn.safeParse({ ...row, sources: sources.all(String(row['turn_key'])) });
      if (!parsed.success) throw new PublishableError('StoreInvalid', 'a row of --from is not a turn');
      yield parsed.data;
    }
  } catch (cause) {
    if (cause instanceof PublishableError || !(cause instanceof Error)) throw cause;
    if (!('code' in cause) || cause.code !== 'ERR_SQLITE_ERROR') throw cause;
    const message = '--from is not a SQLite file of "conversations export", or is damaged or in use';
    throw new PublishableError('StoreUnreadable', message, { cause });
  } finally {
    database?.close();
  }
}
