// Reads a listing page by page, with identical filters and only the last cursor, until the service reports the end.
// Refuses to loop: on a cursor that comes twice, or on too many pages without rows.

import { ExportApiError } from './answers.ts';
import type { ConversationPage, ConversationQuery } from './conversation-answers.ts';
import type { ListingClient } from './listing-client.ts';

/** More pages may follow an empty page. This many empty pages in a row are an error. */
const maxEmptyPages = 20;

/**
 * @throws {ExportApiError} `UnexpectedAnswer`, after the page was returned, when the service reports more
 *   conversations and gives no cursor or a used cursor
 */
export async function* pagesOf(
  client: ListingClient,
  query: ConversationQuery,
  signal: AbortSignal,
): AsyncGenerator<ConversationPage, void, undefined> {
  const seen = new Set(query.cursor === undefined ? [] : [query.cursor]);
  let emptyPages = 0;
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
    cursor = page.following.cursor;
    seen.add(cursor);
  }
}

function brokenPaging(words: string): ExportApiError {
  return new ExportApiError('UnexpectedAnswer', `the export API ${words}: the listing is incomplete`);
}
