// Parses a page of conversations of any shape. Pure: parsed JSON in, rows out. Owns the tolerance for rows (missing
// or odd fields) and the rule for the end of a listing. Invariant: no row is dropped; an unreadable field is
// `undefined`.

import { membersOf } from './job-answers.ts';

export interface ConversationQuery {
  readonly projectId: string;
  /** Epoch ms; sent as a full instant with `Z`. */
  readonly dateFrom?: number | undefined;
  /** Epoch ms, exclusive. */
  readonly dateTo?: number | undefined;
  /** 1–1000; the service's default is 100. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface ConversationSource {
  readonly title: string;
  readonly url: string;
}

/** One row: at the service one turn of a conversation, so `id` is not a key (see `timestamp`, `query`). */
export interface ConversationRow {
  readonly id: string | undefined;
  /** As sent; ISO if the service follows its documentation. Some services count seconds or milliseconds. */
  readonly timestamp: string | undefined;
  readonly query: string | undefined;
  readonly response: string | undefined;
  readonly sources: readonly ConversationSource[];
  readonly queryCategory: string | null;
  readonly pageUrl: string | null;
  readonly resolutionStatus: string | undefined;
}

/** What follows a page. `broken`: the service reports more rows, but gives no cursor. */
export type Following =
  | { readonly kind: 'more'; readonly cursor: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'broken' };

export interface ConversationPage {
  readonly rows: readonly ConversationRow[];
  readonly following: Following;
}

/** `undefined` when the answer has no array `conversations`. */
export function readConversationPage(body: unknown): ConversationPage | undefined {
  const members = membersOf(body);
  const rows: unknown = members?.['conversations'];
  if (members === undefined || !Array.isArray(rows)) return undefined;
  return {
    rows: rows.map(readRow),
    following: followingOf(members['hasMore'], members['nextCursor']),
  };
}

/** The listing ends when `hasMore` is false or `nextCursor` is null. A cursor alone is enough to continue. */
function followingOf(hasMore: unknown, nextCursor: unknown): Following {
  const cursor = typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
  if (hasMore === false) return { kind: 'end' };
  if (cursor !== undefined) return { kind: 'more', cursor };
  return hasMore === true ? { kind: 'broken' } : { kind: 'end' };
}

function readRow(raw: unknown): ConversationRow {
  const members = membersOf(raw) ?? {};
  return {
    id: textOf(members['id']),
    timestamp: timestampOf(members['timestamp']),
    query: textOf(members['query']),
    response: textOf(members['response']),
    sources: readSources(members['sources']),
    queryCategory: textOf(members['queryCategory']) ?? null,
    pageUrl: textOf(members['pageUrl']) ?? null,
    resolutionStatus: textOf(members['resolutionStatus']),
  };
}

function readSources(value: unknown): readonly ConversationSource[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    const members = membersOf(one);
    const url = textOf(members?.['url']);
    return url === undefined ? [] : [{ title: textOf(members?.['title']) ?? '', url }];
  });
}

const timestampOf = (value: unknown): string | undefined =>
  typeof value === 'number' ? String(value) : textOf(value);

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
