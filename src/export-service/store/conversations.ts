// Conversations as rows, ordered by ULID: the time of the conversation, then a hash of its content. The ULID is made
// from the row alone, so a cursor stays valid across restarts and reloads. A load adds its rows in slices; listings
// show the current rows until the last slice is complete. Invariant: a page holds exactly the rows of one load after
// its cursor, oldest first; equal rows are one row.

import { createHash } from 'node:crypto';
import { encodeTime, TIME_MAX, ulid } from 'ulid';
import type { ConversationDocument } from '../../export-api/contract.ts';
import type { ListingQuery } from '../listing-query.ts';
import type { Database } from './database.ts';

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

/** A cursor starts with its time, so a date bound is a bound of cursors: no row at or after `at` sorts before it. */
function firstCursorAt(at: number): string {
  if (at > TIME_MAX) return lastOfAll;
  return at <= 0 ? '' : encodeTime(at);
}

/** Rows written or removed at once: some milliseconds, during which no request is answered. */
const sliceRows = 50;
const sliceLength = 256 * 1024;
/** Bound of one page's documents. A larger page is cut, because the program answers no other request meanwhile. */
const pageLength = 4 * 1024 * 1024;

/** A conversation as its row. */
interface Row {
  readonly project: string;
  readonly cursor: string;
  readonly json: string;
}

export type ConversationStore = ReturnType<typeof createConversationStore>;

export function createConversationStore({ connection, transactLazily }: Database) {
  const current = connection.prepare('SELECT load FROM current_load');
  const setCurrent = connection.prepare('UPDATE current_load SET load = ?');
  const insert = connection.prepare(
    'INSERT OR IGNORE INTO conversations (load, project, cursor, document) VALUES (?, ?, ?, ?)',
  );
  // Two ranges of the key: one condition for both would read every current row each time.
  const removals = ['load < ?', 'load > ?'].map((condition) =>
    connection.prepare(
      `DELETE FROM conversations WHERE (load, project, cursor) IN
       (SELECT load, project, cursor FROM conversations WHERE ${condition} LIMIT ?)`,
    ),
  );
  const anyOf = connection.prepare('SELECT 1 FROM conversations WHERE load = ? AND project = ? LIMIT 1');
  const select = connection.prepare(
    `SELECT cursor, document FROM conversations
     WHERE load = ? AND project = ? AND cursor > ? AND cursor >= ? AND cursor < ? ORDER BY cursor LIMIT ?`,
  );
  const currentLoad = (): number => Number(current.get()?.['load']);

  function insertSlice(load: number, rows: readonly Row[]): number {
    return transactLazily(() => {
      let count = 0;
      for (const { project, cursor, json } of rows) {
        const result = insert.run(load, project, cursor, json);
        count += Number(result.changes);
      }
      return count;
    });
  }

  async function removeOtherLoads(pause: () => Promise<void>): Promise<void> {
    const load = currentLoad();
    for (const removal of removals) {
      while (Number(transactLazily(() => removal.run(load, sliceRows)).changes) > 0) await pause();
    }
  }

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
      // What a loading that was broken off has left behind.
      await removeOtherLoads(pause);
      const load = currentLoad() + 1;
      let count = 0;
      for await (const slice of slicesOf(rows)) {
        count += insertSlice(load, slice);
        await pause();
      }
      transactLazily(() => setCurrent.run(load));
      await removeOtherLoads(pause);
      return count;
    },

    hasProject: (project: string): boolean => anyOf.get(currentLoad(), project) !== undefined,

    /**
     * One page, of one row at least where there is one; one row more than it holds tells exactly whether there is a
     * next one.
     */
    page(project: string, { dateFrom, dateTo, limit, cursor }: ListingQuery): StoredPage {
      const from = dateFrom === undefined ? '' : firstCursorAt(dateFrom);
      const to = dateTo === undefined ? lastOfAll : firstCursorAt(dateTo);
      const documents: string[] = [];
      let last = '';
      let length = 0;
      for (const row of select.iterate(currentLoad(), project, cursor ?? '', from, to, limit + 1)) {
        const document = String(row['document']);
        length += document.length;
        const isFull = documents.length === limit || (documents.length > 0 && length > pageLength);
        if (isFull) return { documents, nextCursor: last };
        documents.push(document);
        last = String(row['cursor']);
      }
      return { documents, nextCursor: null };
    },
  };
}

async function* slicesOf(
  rows: AsyncIterable<StoredConversation> | Iterable<StoredConversation>,
): AsyncGenerator<readonly Row[]> {
  let slice: Row[] = [];
  let length = 0;
  for await (const { project, at, document } of rows) {
    const json = JSON.stringify(document);
    slice.push({ project, cursor: cursorFrom(project, at, json), json });
    length += json.length;
    if (slice.length < sliceRows && length < sliceLength) continue;
    yield slice;
    slice = [];
    length = 0;
  }
  if (slice.length > 0) yield slice;
}
