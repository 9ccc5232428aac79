// Reads a listing page by page, with identical filters and only the last cursor, until the service reports the end.
// Refuses to loop: on a cursor that comes twice, on pages without a new row, or on too many pages without rows.

import { createHash } from 'node:crypto';
import { ExportApiError } from './answers.ts';
import type { ConversationPage, ConversationQuery, ConversationRow } from './conversation-answers.ts';
import type { ListingClient } from './listing-client.ts';

/** More pages may follow an empty page. This many empty pages in a row are an error. */
const maxEmptyPages = 20;
/** One page may come twice. A service that ignores the cursor repeats its first page for ever, with new cursors. */
const maxRepeatedPages = 2;
/** Of one listing: tens of megabytes. Windows of a run have far fewer. */
const mostSeenRows = 1_000_000;

/**
 * @throws {ExportApiError} `UnexpectedAnswer`, after the page was returned, when the service reports more
 *   conversations and gives no cursor, a used cursor, or two pages in a row without a new conversation
 */
export async function* pagesOf(
  client: ListingClient,
  query: ConversationQuery,
  signal: AbortSignal,
): AsyncGenerator<ConversationPage, void, undefined> {
  const seen = new Set(query.cursor === undefined ? [] : [query.cursor]);
  const seenRows = new Set<number>();
  let emptyPages = 0;
  let repeatedPages = 0;
  for (let cursor = query.cursor; ; ) {
    const page = await client.listConversations({ ...query, cursor }, signal);
    yield page;
    if (page.following.kind === 'end') return;
    if (page.following.kind === 'broken') {
      throw brokenPaging('reports more conversations, but gives no cursor');
    }
    if (seen.has(page.following.cursor)) throw brokenPaging('gave the same cursor twice');
    emptyPages = page.rows.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages >= maxEmptyPages) throw brokenPaging(`gave ${maxEmptyPages} empty pages in a row`);
    // An empty page says nothing about the pages around it.
    if (page.rows.length > 0) repeatedPages = noteRows(page.rows, seenRows) ? 0 : repeatedPages + 1;
    if (repeatedPages >= maxRepeatedPages) {
      throw brokenPaging('gave no new conversation on two pages in a row, and reports more');
    }
    cursor = page.following.cursor;
    seen.add(cursor);
  }
}

/** @returns whether one of them was not seen before */
function noteRows(rows: readonly ConversationRow[], seen: Set<number>): boolean {
  if (seen.size > mostSeenRows) seen.clear();
  const before = seen.size;
  for (const row of rows) {
    const hash = createHash('sha256').update(JSON.stringify(row)).digest();
    seen.add(hash.readUIntBE(0, 6));
  }
  return seen.size > before;
}

function brokenPaging(words: string): ExportApiError {
  return new ExportApiError('UnexpectedAnswer', `the export API ${words}; the listing is incomplete`);
}
