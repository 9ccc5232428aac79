// One page of the listing within the budget: counts each request, keeps the pauses that the export API asks for, and repeats
// what failed for a moment. Refuses to go on where another request would fail the same way. Owns why a listing did not come
// to its end: the export API refuses its own cursor, or its pages lead nowhere.

import { readAddressFault } from '#export-api/address-fault.ts';
import { ExportApiError, type ExportApiErrorCode } from '#export-api/answers.ts';
import type { ConversationPage, ConversationQuery } from '#export-api/conversation-answers.ts';
import type { ListingClient } from '#export-api/listing-client.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Budget, OnWait } from './budget.ts';

export interface PacedListing extends ListingClient {
  /** Sent so far. */
  readonly requests: number;
}

export interface ListingDependencies {
  readonly client: ListingClient;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly onWait: OnWait;
  /** Gets why a request is repeated, and the length of the wait before it. */
  readonly onRetry?: (code: string, ms: number) => void;
}

const temporary: ReadonlySet<ExportApiErrorCode> = new Set(['ServerError', 'NetworkError', 'RequestTimeout']);
const mostAttempts = 5;
const firstPauseMs = 2_000;
/** Where a 429 has no Retry-After; it doubles each time. */
const firstRatePauseMs = 60_000;

/** @param before how many 429 came before without another answer. Only the first one may say "at once" */
const ratePause = (askedMs: number | undefined, before: number): number =>
  askedMs === undefined
    ? firstRatePauseMs * 2 ** before
    : Math.max(askedMs, before === 0 ? 0 : firstPauseMs * 2 ** before);

export function createPacedListing(dependencies: ListingDependencies): PacedListing {
  const { client, budget, clock, onWait, onRetry } = dependencies;
  let requests = 0;
  let hasAnswered = false;
  const send = async (query: ConversationQuery, signal: AbortSignal): Promise<ConversationPage> => {
    const answered = await budget.take(signal, onWait);
    requests += 1;
    try {
      const page = await client.listConversations(query, signal);
      hasAnswered = true;
      return page;
    } finally {
      answered();
    }
  };
  return {
    get requests() {
      return requests;
    },
    listConversations: async (query, signal) => {
      let rateLimits = 0;
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await send(query, signal);
        } catch (error) {
          if (!(error instanceof ExportApiError) || signal.aborted) throw error;
          if (error.code === 'RateLimited') {
            // Its rule wins over the budget. The next attempt waits for it, or ends the run with the time.
            budget.pause(ratePause(error.retryAfterMs, rateLimits));
            rateLimits = Math.min(rateLimits + 1, 10);
            attempt -= 1;
            continue;
          }
          // Before the first answer, a certificate or a protocol is wrong until a person changes it.
          const isWrong = !hasAnswered && readAddressFault(error) === 'wrong';
          if (isWrong || !temporary.has(error.code) || attempt >= mostAttempts) throw error;
          const pauseMs = Math.max(firstPauseMs * 2 ** (attempt - 1), error.retryAfterMs ?? 0);
          onRetry?.(error.code, pauseMs);
          await clock.after(pauseMs, signal);
        }
      }
    },
  };
}

/** A cursor does not outlive its time. */
export class CursorLost extends Error {}

const cursorRefusals: ReadonlySet<string> = new Set(['BadRequest', 'NotFound', 'Gone', 'Conflict']);

/** The same listing, where a refused cursor is a {@link CursorLost}. */
export function withCursorLost(listing: PacedListing): PacedListing['listConversations'] {
  return async (query, signal) => {
    try {
      return await listing.listConversations(query, signal);
    } catch (error) {
      if (!(error instanceof ExportApiError)) throw error;
      if (query.cursor === undefined || !cursorRefusals.has(error.code)) throw error;
      throw new CursorLost('the export API refused its own cursor', { cause: error });
    }
  };
}

/** A listing that gives a cursor or its rows twice, or no cursor where it says more. */
export const isBrokenPaging = (error: unknown): error is ExportApiError =>
  error instanceof ExportApiError && error.code === 'UnexpectedAnswer' && error.status === undefined;
