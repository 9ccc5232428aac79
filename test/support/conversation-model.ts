// A model of the conversation listing: any order, short and empty pages, pages that come twice, rows that appear late,
// categories that come later, shared ids, cursors that expire, refusals. Its clock leaps over every wait.

import { ExportApiError } from '#export-api/answers.ts';
import {
  type ConversationPage,
  type ConversationQuery,
  readConversationPage,
} from '#export-api/conversation-answers.ts';
import type { Clock } from '#platform/runtime/clock.ts';

export interface ModelRow {
  readonly id: string;
  readonly timestamp: string;
  /** Epoch ms by which the model filters. */
  readonly at: number;
  readonly query: string;
  readonly response: string;
  /** From when on the listing has it. */
  readonly appearsAt: number;
  /** From when on it has its category and status. */
  readonly categorizedAt: number;
}

export interface ModelOptions {
  /** In [0, 1). */
  readonly random: () => number;
  /** How long a request takes. */
  readonly requestMs?: number;
  /** Share of requests that fail with 500, and with 429. */
  readonly failures?: number;
  readonly rateLimits?: number;
  /** Share of pages that are empty, cut short, and sent twice. */
  readonly emptyPages?: number;
  readonly shortPages?: number;
  readonly repeatedPages?: number;
  /** A cursor is refused after this time. */
  readonly cursorLifetimeMs?: number;
  readonly isDateFromInclusive?: boolean;
}

export interface LeapingClock extends Clock {
  leap(ms: number): void;
}

/** Every wait is over at once, and time has passed by it. */
export function leapingClock(start: number): LeapingClock {
  let now = start;
  return {
    now: () => now,
    monotonic: () => now - start,
    after: async (ms, signal) => {
      signal?.throwIfAborted();
      now += Math.max(0, ms);
    },
    deadline: () => new AbortController().signal,
    leap: (ms) => {
      now += ms;
    },
  };
}

/** Mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Listing {
  readonly rows: readonly ModelRow[];
  readonly position: number;
  readonly issuedAt: number;
}

/** As the export API would write a row at this time. */
export const sentRow = (row: ModelRow, now: number): Readonly<Record<string, unknown>> => {
  const isCategorized = row.categorizedAt <= now;
  const { id, timestamp, query, response } = row;
  return {
    ...{ id, timestamp, query, response },
    sources: [{ title: 'Page', url: `https://docs.example.com/${query.length}` }],
    queryCategory: isCategorized ? 'How-To' : null,
    pageUrl: null,
    ...(isCategorized && { resolutionStatus: 'answered' }),
  };
};

export class ConversationModel {
  readonly requests: number[] = [];
  readonly #rows: readonly ModelRow[];
  readonly #clock: LeapingClock;
  readonly #options: ModelOptions;
  readonly #listings = new Map<string, Listing>();

  constructor(rows: readonly ModelRow[], clock: LeapingClock, options: ModelOptions) {
    this.#rows = rows.toSorted((one, other) => one.at - other.at);
    this.#clock = clock;
    this.#options = options;
  }

  /** What a complete export has, and in its last form. */
  expected(since: number, until: number): readonly ModelRow[] {
    return this.#rows.filter(
      ({ at, appearsAt }) => at >= since && at < until && appearsAt <= this.#clock.now(),
    );
  }

  async listConversations(query: ConversationQuery, signal: AbortSignal): Promise<ConversationPage> {
    signal.throwIfAborted();
    const { random, requestMs = 300, failures = 0, rateLimits = 0 } = this.#options;
    this.#clock.leap(requestMs);
    const now = this.#clock.now();
    this.requests.push(now);
    if (random() < failures)
      throw new ExportApiError('ServerError', 'the export API failed', { status: 500 });
    if (random() < rateLimits)
      throw new ExportApiError('RateLimited', 'too many', { status: 429, retryAfterMs: 5_000 });
    const page = readConversationPage(this.#pageOf(query, now));
    if (page === undefined) throw new Error('the model gave no page');
    return page;
  }

  #pageOf(query: ConversationQuery, now: number): unknown {
    const { random, emptyPages = 0, shortPages = 0, repeatedPages = 0 } = this.#options;
    const { rows, position } = this.#find(query, now);
    const limit = query.limit ?? 100;
    const taken = random() < emptyPages ? 0 : random() < shortPages ? Math.ceil(random() * limit) : limit;
    const end = Math.min(rows.length, position + taken);
    const isRepeated = random() < repeatedPages;
    const next = isRepeated ? position : end;
    const isLast = next >= rows.length;
    let nextCursor: string | null = null;
    if (!isLast) {
      nextCursor = `cursor-${this.#listings.size}`;
      this.#listings.set(nextCursor, { rows, position: next, issuedAt: now });
    }
    const conversations = rows.slice(position, end).map((row) => sentRow(row, now));
    return { conversations, nextCursor, hasMore: !isLast };
  }

  #find(query: ConversationQuery, now: number): Listing {
    const { random, cursorLifetimeMs, isDateFromInclusive = true } = this.#options;
    if (query.cursor !== undefined) {
      const listing = this.#listings.get(query.cursor);
      const isExpired = cursorLifetimeMs !== undefined && now - (listing?.issuedAt ?? 0) > cursorLifetimeMs;
      if (listing === undefined || isExpired)
        throw new ExportApiError('BadRequest', 'the cursor is not valid', { status: 400 });
      return listing;
    }
    const { dateFrom = 0, dateTo = Number.POSITIVE_INFINITY } = query;
    const first = isDateFromInclusive ? dateFrom : dateFrom + 1;
    const found = this.#rows.filter(({ at, appearsAt }) => at >= first && at < dateTo && appearsAt <= now);
    return { rows: shuffled(found, random), position: 0, issuedAt: now };
  }
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const result = [...items];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    const [one, two] = [result[index], result[other]];
    if (one !== undefined && two !== undefined) [result[index], result[other]] = [two, one];
  }
  return result;
}

/** Turns over a span; some share their id, some come late, some get their category late, some have a twin. */
export function modelRows(
  random: () => number,
  span: { readonly from: number; readonly until: number },
  count: number,
): readonly ModelRow[] {
  const rows: ModelRow[] = [];
  while (rows.length < count) {
    const at = Math.floor(span.from + random() * (span.until - span.from));
    const row: ModelRow = {
      id: `c${Math.floor(random() * count * 0.7)}`,
      timestamp: new Date(at).toISOString(),
      at,
      query: `question ${Math.floor(random() * 50)}`,
      response: `answer ${rows.length}`,
      appearsAt: random() < 0.2 ? at + random() * 5 * 86_400_000 : at,
      categorizedAt: at + (random() < 0.5 ? 0 : random() * 6 * 86_400_000),
    };
    rows.push(row);
    // A twin differs in its answer alone.
    if (random() < 0.1) rows.push({ ...row, response: `answer ${rows.length}` });
  }
  return rows;
}
