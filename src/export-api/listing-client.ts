// The client of the conversation listing: one call, bound to one base URL and key. Owns the size of a page, and that the
// thread of its caller parses no large one. Refuses: retrying, paging (conversation-pages.ts), pacing. Invariant: rejects
// with ExportApiError only.

import { runTask, taskErrorCode } from '#platform/runtime/task.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { ExportApiError } from './answers.ts';
import { checkedId, createCaller } from './caller.ts';
import { conversationsPath, pageLimits } from './contract.ts';
import {
  type ConversationPage,
  type ConversationQuery,
  type ConversationRow,
  readConversationPage,
} from './conversation-answers.ts';
import type { ExchangeOptions } from './exchange.ts';
import { type ListingEnd, mostValues } from './listing-run.ts';
import { bodyText, longestAnswerBytes } from './refusals.ts';

export interface ListingClient {
  /** One page. `pagesOf` in conversation-pages.ts reads further pages. */
  listConversations(query: ConversationQuery, signal: AbortSignal): Promise<ConversationPage>;
}

export interface ListingOptions extends ExchangeOptions {
  /** Of the thread that reads large pages (`src/bin/listing-worker.ts`, or where the build put it). */
  readonly program: URL;
}

/** Answers of models are long: 64 KiB for each conversation of the largest page. */
const maxPageBytes = 64 * 1024 * pageLimits.maximum;
/** A page as bytes, as text and as rows. What is parsed is bounded before, by its bytes and its values. */
const limits = { maxOldGenerationSizeMb: 512 };

/** Never throws itself; see {@link createCaller}. */
export function createListingClient(options: ListingOptions): ListingClient {
  const call = createCaller(options);
  return {
    listConversations: async (query, signal) =>
      call(
        { method: 'GET', path: listingPath(query), maxBytes: maxPageBytes },
        'conversations',
        ({ bytes, statusCode }) =>
          bytes.byteLength <= longestAnswerBytes
            ? readConversationPage(readJson(bodyText(bytes)))
            : readInThread(bytes, statusCode, options.program, signal),
        signal,
      ),
  };
}

async function readInThread(
  body: Uint8Array,
  status: number,
  program: URL,
  signal: AbortSignal,
): Promise<ConversationPage | undefined> {
  const rows: ConversationRow[] = [];
  const onReport = (some: readonly ConversationRow[]): void => void rows.push(...some);
  const work = { limits, signal, onReport };
  try {
    const end = await runTask<Uint8Array, ListingEnd, readonly ConversationRow[]>(program, body, work);
    if (end === 'notAPage') return undefined;
    if (end === 'tooManyValues') throw tooManyValues(status);
    return { rows, following: end };
  } catch (cause) {
    if (signal.aborted) throw stopped(cause);
    if (!(cause instanceof PublishableError) || taskErrorCode(cause) === undefined) throw cause;
    const message = `a page of conversations could not be read (${cause.message}); lower --limit`;
    throw new ExportApiError('UnexpectedAnswer', message, { status, cause });
  }
}

const stopped = (cause: unknown): ExportApiError =>
  new ExportApiError('Aborted', 'the caller stopped the request to the export API', { cause });

const tooManyValues = (status: number): ExportApiError =>
  new ExportApiError(
    'UnexpectedAnswer',
    `the export API answered ${status} with a page of more than ${mostValues} values: check that the base URL is the API's, or lower the limit`,
    { status },
  );

function listingPath({ projectId, dateFrom, dateTo, limit, cursor }: ConversationQuery): string {
  if (
    limit !== undefined &&
    !(Number.isInteger(limit) && limit >= pageLimits.minimum && limit <= pageLimits.maximum)
  ) {
    throw new ExportApiError(
      'BadRequest',
      `limit must be a whole number from ${pageLimits.minimum} to ${pageLimits.maximum}; nothing was sent`,
    );
  }
  const query = new URLSearchParams();
  if (dateFrom !== undefined) query.set('dateFrom', instantText(dateFrom));
  if (dateTo !== undefined) query.set('dateTo', instantText(dateTo));
  if (limit !== undefined) query.set('limit', String(limit));
  if (cursor !== undefined) query.set('cursor', cursor);
  const search = query.size === 0 ? '' : `?${query}`;
  return `${conversationsPath(checkedId(projectId, 'project id'))}${search}`;
}

/** A full instant with `Z`, because the zone of a bare date is not documented. */
function instantText(epochMs: number): string {
  if (!(Math.abs(epochMs) <= 8.64e15)) {
    throw new ExportApiError('BadRequest', 'a date bound is not an instant; nothing was sent');
  }
  return new Date(epochMs).toISOString();
}
