// From page to page of a listing, with identical filters and only the last cursor, until the service says
// that there is no more. Refuses to loop: a cursor that comes twice, or pages without rows that never end.

import { ExportApiError } from './answers.ts';
import type { ExportApiClient } from './client.ts';
import type { ConversationPage, ConversationQuery } from './conversation-answers.ts';

/** An empty page may have others behind it; this many in a row are a fault. */
const maxEmptyPages = 20;

/**
 * @throws {ExportApiError} `UnexpectedAnswer`, after the page was handed out, when the service says that more
 * follows and either names no cursor or one that was already used
 */
export async function* pagesOf(
  client: Pick<ExportApiClient, 'listConversations'>,
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
      throw brokenPaging('says that there are more conversations and gives no cursor to them');
    }
    if (seen.has(page.following.cursor)) throw brokenPaging('gave the same cursor twice');
    emptyPages = page.rows.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages >= maxEmptyPages) throw brokenPaging(`gave ${maxEmptyPages} empty pages in a row`);
    cursor = page.following.cursor;
    seen.add(cursor);
  }
}

function brokenPaging(words: string): ExportApiError {
  return new ExportApiError('UnexpectedAnswer', `the export API ${words}: the listing is not complete`);
}
