// Conversations as rows, ordered by ULID: the time of the conversation, then a hash of its content. The ULID is made
// from the row alone, so a cursor stays valid across restarts and reloads. Each load fills a file of its own, which no other
// process sees; listings show the rows of the load before until the new one is complete. Invariant: a page holds exactly
// the rows of one load after its cursor, oldest first; equal rows are one row.

import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { encodeTime, TIME_MAX, ulid } from 'ulid';
import type { ConversationDocument } from '../../export-api/contract.ts';
import type { ListingQuery } from '../listing-query.ts';
import { openSqlite } from './database.ts';

export interface StoredConversation {
  readonly project: string;
  /** Epoch ms, not before 1970 (a ULID cannot say earlier). */
  readonly at: number;
  readonly document: ConversationDocument;
}

export interface StoredPage {
  /** Each as JSON, as it was stored. */
  readonly documents: readonly string[];
  readonly nextCursor: string | null;
}

/** 48 bits of time and 80 bits of SHA-256 over project and content. */
export function cursorOf({ project, at, document }: StoredConversation): string {
  return cursorFrom(project, at, JSON.stringify(document));
}

function cursorFrom(project: string, at: number, json: string): string {
  const hash = createHash('sha256')
    .update(`[${JSON.stringify(project)},${json}]`)
    .digest();
  let position = 0;
  const nextFraction = (): number => (hash[position++] ?? 0) / 256;
  // Two calls: ulid() takes the time 0 for "now".
  return encodeTime(at) + ulid(1, nextFraction).slice(10);
}

/** Sorts after every ULID. */
const lastOfAll = '~';

/**
 * A cursor starts with its time, so a date bound is a bound of cursors: every row at or after `at` sorts after it, and
 * none is equal to it, because it is shorter.
 */
function firstCursorAt(at: number): string {
  if (at > TIME_MAX) return lastOfAll;
  return at <= 0 ? '' : encodeTime(at);
}

/** Rows written at once: some milliseconds, during which no request is answered. */
const sliceRows = 50;
const sliceLength = 256 * 1024;
/** Bound of one page's documents. A larger page is cut, because the program answers no other request meanwhile. */
const pageLength = 4 * 1024 * 1024;

interface Load {
  readonly path: string;
  readonly rows: DatabaseSync;
  /** Removes its file. */
  close(): void;
}

export type ConversationStore = ReturnType<typeof createConversationStore>;

/** @param directory exists; one store at a time has it */
export function createConversationStore(directory: string) {
  const paths = [0, 1].map((number) => join(directory, `conversations.${number}.sqlite`));
  // A killed process leaves its files.
  for (const path of paths) rmSync(path, { force: true });
  const [first = '', second = ''] = paths;
  let current = openLoad(first);
  return {
    /**
     * The given rows and no others, visible all at once when the last is in; until then, and when `rows` ends in
     * an error, the earlier ones are listed. One at a time.
     * @param pause lets other work run; what it throws ends the loading
     * @returns how many are different
     */
    async replaceAll(
      rows: AsyncIterable<StoredConversation> | Iterable<StoredConversation>,
      pause: () => Promise<void>,
    ): Promise<number> {
      const load = openLoad(current.path === first ? second : first);
      let finished = load;
      try {
        const count = await fill(load.rows, rows, pause);
        finished = current;
        current = load;
        return count;
      } finally {
        finished.close();
      }
    },

    hasProject: (project: string): boolean =>
      current.rows.prepare('SELECT 1 FROM conversations WHERE project = ? LIMIT 1').get(project) !==
      undefined,

    /**
     * One page, of at least one row if there is one. One row more than it holds is read, to know whether a next page
     * exists.
     */
    page(project: string, { dateFrom, dateTo, limit, cursor }: ListingQuery): StoredPage {
      // One lower bound: of two, SQLite seeks to the first and reads every row up to the other.
      const from = dateFrom === undefined ? '' : firstCursorAt(dateFrom);
      const after = cursor !== undefined && cursor > from ? cursor : from;
      const to = dateTo === undefined ? lastOfAll : firstCursorAt(dateTo);
      const select = current.rows.prepare(
        `SELECT cursor, document FROM conversations
         WHERE project = ? AND cursor > ? AND cursor < ? ORDER BY cursor LIMIT ?`,
      );
      const documents: string[] = [];
      let last = '';
      let length = 0;
      for (const row of select.iterate(project, after, to, limit + 1)) {
        const document = String(row['document']);
        length += document.length;
        const isFull = documents.length === limit || (documents.length > 0 && length > pageLength);
        if (isFull) return { documents, nextCursor: last };
        documents.push(document);
        last = String(row['cursor']);
      }
      return { documents, nextCursor: null };
    },

    close: () => current.close(),
  };
}

/** An empty load. */
function openLoad(path: string): Load {
  const rows = openSqlite(path);
  const close = (): void => {
    rows.close();
    rmSync(path, { force: true });
  };
  try {
    rows.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
       CREATE TABLE conversations (project TEXT NOT NULL, cursor TEXT NOT NULL, document TEXT NOT NULL,
         PRIMARY KEY (project, cursor)) STRICT, WITHOUT ROWID;`,
    );
  } catch (error) {
    close();
    throw error;
  }
  return { path, rows, close };
}

async function fill(
  load: DatabaseSync,
  rows: AsyncIterable<StoredConversation> | Iterable<StoredConversation>,
  pause: () => Promise<void>,
): Promise<number> {
  const insert = load.prepare('INSERT OR IGNORE INTO conversations VALUES (?, ?, ?)');
  let count = 0;
  let sliced = 0;
  let length = 0;
  load.exec('BEGIN');
  for await (const { project, at, document } of rows) {
    const json = JSON.stringify(document);
    count += Number(insert.run(project, cursorFrom(project, at, json), json).changes);
    sliced += 1;
    length += json.length;
    if (sliced < sliceRows && length < sliceLength) continue;
    await pause();
    [sliced, length] = [0, 0];
  }
  load.exec('COMMIT');
  return count;
}
