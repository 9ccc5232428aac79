// What the export API's answers mean to us, after tolerance: one shape each, whatever the wire said.
// Owns: the vocabulary that the client returns and the loop decides on. What came in survives as `raw`.

import type { Link } from '../wire/link.ts';
import { PublishableError } from '../wire/publishable-error.ts';

/** `unfinished` is everything that is neither a known success nor a known failure. */
export type JobOutcome = 'unfinished' | 'completed' | 'failed';

export interface StartedJob {
  readonly jobId: string;
  /** `Retry-After` of the answer: how long the service would like us to wait before asking. */
  readonly retryAfterMs?: number | undefined;
  readonly raw: unknown;
}

export interface JobReport {
  readonly outcome: JobOutcome;
  /** The status verbatim (printable, at most 64 characters); `unknown` when the answer had none. */
  readonly state: string;
  /** Percent 0–100, for display only: 100 does not mean done. */
  readonly progress: number | undefined;
  /** Pages exported so far; may be absent, 0, or go backwards. */
  readonly pageCount: number | undefined;
  /** `Retry-After` of the answer. */
  readonly retryAfterMs?: number | undefined;
  readonly raw: unknown;
}

export interface IssuedLink {
  readonly link: Link;
  /** Epoch ms, the body's own claim; `undefined` when missing or unreadable. */
  readonly expiresAt: number | undefined;
  /** Epoch ms of the response's `Date` header: the API's clock when it answered. */
  readonly serverDate: number | undefined;
  /** Holds the link's text: not enumerable, so that neither JSON nor inspection shows it. */
  readonly raw: unknown;
}

export type ExportApiErrorCode =
  | 'BadRequest' // 400, 422 and other 4xx without a code of their own
  | 'Unauthorized' // 401
  | 'Forbidden' // 403
  | 'NotFound' // 404
  | 'Gone' // 410
  | 'Conflict' // 409
  | 'RateLimited' // 429
  | 'ServerError' // 5xx
  | 'UnexpectedAnswer' // a 2xx (or a redirect) that is not what the contract says: HTML, empty, no jobId
  | 'RequestTimeout' // our deadline passed
  | 'NetworkError' // no answer at all
  | 'Aborted'; // the caller's signal

/** The only error the client throws. The message is made of code, status and our own words. */
export class ExportApiError extends PublishableError {
  declare readonly code: ExportApiErrorCode;
  readonly status: number | undefined;
  /** From `Retry-After`, already bounded. */
  readonly retryAfterMs: number | undefined;
  /** From `x-request-id` and its kin, printable and bounded, for a support ticket. */
  readonly requestId: string | undefined;
  readonly #excerpt: string | undefined;

  constructor(
    code: ExportApiErrorCode,
    message: string,
    facts: {
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly requestId?: string | undefined;
      readonly excerpt?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(code, message, { cause: facts.cause });
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.requestId = facts.requestId;
    this.#excerpt = facts.excerpt;
  }

  /**
   * What the service itself said, one bounded line with keys and links cut out. Somebody else's words: for a
   * person at a terminal, never for status, events or logs (which is why JSON and inspection do not show it).
   */
  get excerpt(): string | undefined {
    return this.#excerpt;
  }
}

/** The part of the API that publishing needs, bound to one base URL and key. Rejects with ExportApiError only. */
export interface ExportApi {
  startJob(
    request: { readonly domain: string; readonly idempotencyKey: string },
    signal: AbortSignal,
  ): Promise<StartedJob>;
  readJob(jobId: string, signal: AbortSignal): Promise<JobReport>;
  issueLink(
    request: { readonly jobId: string; readonly idempotencyKey: string },
    signal: AbortSignal,
  ): Promise<IssuedLink>;
}
