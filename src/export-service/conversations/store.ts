// Answers listings from an index file: one page of one project, by position. Owns the files of indexes in the data
// folder and removes each that is no longer read. Reads only; the thread of index-task.ts writes. Invariant: a page holds
// exactly the rows of one state of the index after its cursor, oldest first.

import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { openSqlite } from '../store/database.ts';
import { firstCursorAt, lastOfAll } from './cursor.ts';
import type { ListingQuery } from './listing-query.ts';

export interface StoredPage {
  /** Each as JSON, as it was stored. */
  readonly documents: readonly string[];
  readonly nextCursor: string | null;
}

/** Bound of one page's documents. A larger page is cut, because the program answers no other request meanwhile. */
const pageLength = 4 * 1024 * 1024;

interface OpenIndex {
  readonly path: string;
  readonly connection: DatabaseSync;
  readonly page: StatementSync;
  readonly project: StatementSync;
}

export type ConversationStore = ReturnType<typeof createConversationStore>;

/** @param directory exists; one store at a time has it */
export function createConversationStore(directory: string) {
  const paths = ['0', '1'].map((number) => join(directory, `conversations.${number}.sqlite`));
  const [first = '', second = ''] = paths;
  // A killed process leaves its files.
  for (const path of paths) rmSync(path, { force: true });
  let current: OpenIndex | undefined;
  return {
    /** Where the next index is to be built; no such file exists, or an interrupted one. */
    nextPath: (): string => (current?.path === first ? second : first),

    /** Lists the index at `path` from now on, and removes the one before. */
    async use(path: string): Promise<void> {
      const old = current;
      current = openIndex(path);
      if (old === undefined) return;
      old.connection.close();
      // In the background: to remove a file of gigabytes takes a while.
      await rm(old.path, { force: true });
    },

    hasProject: (project: string): boolean => current?.project.get(project) !== undefined,

    /**
     * One page, of at least one row if there is one. One row more than it holds is read, to know whether a next page
     * exists.
     */
    page(project: string, { dateFrom, dateTo, limit, cursor }: ListingQuery): StoredPage {
      if (current === undefined) return { documents: [], nextCursor: null };
      // One lower bound: of two, SQLite seeks to the first and reads every row up to the other.
      const from = dateFrom === undefined ? '' : firstCursorAt(dateFrom);
      const after = cursor !== undefined && cursor > from ? cursor : from;
      const to = dateTo === undefined ? lastOfAll : firstCursorAt(dateTo);
      const documents: string[] = [];
      let last = '';
      let length = 0;
      for (const row of current.page.iterate(project, after, to, limit + 1)) {
        const document = String(row['document']);
        length += document.length;
        const isFull = documents.length === limit || (documents.length > 0 && length > pageLength);
        if (isFull) return { documents, nextCursor: last };
        documents.push(document);
        last = String(row['cursor']);
      }
      return { documents, nextCursor: null };
    },

    close(): void {
      current?.connection.close();
      current = undefined;
      for (const path of paths) rmSync(path, { force: true });
    },
  };
}

/** Of the listing; the order of the join is fixed, so that no statistics make it read every turn. */
export const pageQuery = `SELECT cursor, document FROM positions CROSS JOIN turns USING (turn)
  WHERE project = ? AND cursor > ? AND cursor < ? ORDER BY cursor LIMIT ?`;

function openIndex(path: string): OpenIndex {
  const connection = openSqlite(path);
  connection.exec('PRAGMA query_only = ON');
  return {
    path,
    connection,
    page: connection.prepare(pageQuery),
    project: connection.prepare('SELECT 1 FROM positions WHERE project = ? LIMIT 1'),
  };
}
