// Conversations as rows, ordered by ULID: the time of the conversation, then a hash of its content. The ULID
// is made from the row alone, so a cursor stays valid across restarts and reloads.
// Invariant: a page holds exactly the rows after its cursor, oldest first; equal rows are one row.

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
  /** JSON documents as they were stored. */
  readonly documents: readonly unknown[];
  readonly nextCursor: string | null;
}

/** 48 bits of time and 80 bits of SHA-256 over project and content. */
export function cursorOf({ project, at, document }: StoredConversation): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([project, document]))
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

export type ConversationStore = ReturnType<typeof createConversationStore>;

export function createConversationStore({ connection, transact }: Database) {
  const clear = connection.prepare('DELETE FROM conversations');
  const insert = connection.prepare(
    'INSERT OR IGNORE INTO conversations (project, cursor, document) VALUES (?, ?, ?)',
  );
  const anyOf = connection.prepare('SELECT 1 FROM conversations WHERE project = ? LIMIT 1');
  const select = connection.prepare(
    `SELECT cursor, document FROM conversations
     WHERE project = ? AND cursor > ? AND cursor >= ? AND cursor < ? ORDER BY cursor LIMIT ?`,
  );
  return {
    /** The given rows and no others, in one transaction. @returns how many are different */
    replaceAll: (rows: Iterable<StoredConversation>): number =>
      transact(() => {
        clear.run();
        let count = 0;
        for (const row of rows) {
          count += Number(insert.run(row.project, cursorOf(row), JSON.stringify(row.document)).changes);
        }
        return count;
      }),

    hasProject: (project: string): boolean => anyOf.get(project) !== undefined,

    /** One page; one row more than asked for tells exactly whether there is a next one. */
    page(project: string, { dateFrom, dateTo, limit, cursor }: ListingQuery): StoredPage {
      const from = dateFrom === undefined ? '' : firstCursorAt(dateFrom);
      const to = dateTo === undefined ? lastOfAll : firstCursorAt(dateTo);
      const found = select.all(project, cursor ?? '', from, to, limit + 1);
      const rows = found.slice(0, limit);
      return {
        documents: rows.map((row): unknown => JSON.parse(String(row['document']))),
        nextCursor: found.length > limit ? String(rows.at(-1)?.['cursor']) : null,
      };
    },
  };
}
