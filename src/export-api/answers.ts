// The export API's answers after tolerant parsing: one shape each, whatever the service sent. Owns: the types that
// the client returns and the loop decides on. The original answer is kept as `raw`.

import type { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { ExportBasePath } from './contract.ts';

/** A deployment of the project-scoped form. */
export interface ExportProject {
  /** As the vendor's dashboard shows it. */
  readonly id: string;
  /** `undefined`: what the deployment has. */
  readonly basePath: ExportBasePath | undefined;
}

/** Where an export API is, and in which of its two forms it is asked. */
export interface ExportApiAddress {
  readonly baseUrl: string;
  /** `undefined`: by domain. */
  readonly project: ExportProject | undefined;
}

/** `unfinished` is everything that is neither a known success nor a known failure. */
export type JobOutcome = 'unfinished' | 'completed' | 'failed';

export interface StartedJob {
  readonly jobId: string;
  /** `Retry-After` of the answer: the delay that the service requests before the next poll. */
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
  /** Of a failed job: the export API's own words, as an excerpt without secrets. */
  readonly said?: string | undefined;
  /** `Retry-After` of the answer. */
  readonly retryAfterMs?: number | undefined;
  /** Of a completed job, where the answer carries a link. */
  readonly issued?: IssuedLink | undefined;
  /** `undefined` where the answer is a secret. */
  readonly raw: unknown;
}

export interface IssuedLink {
  readonly link: Link;
  /** Epoch ms, as the body claims; `undefined` when missing or unreadable. */
  readonly expiresAt: number | undefined;
  /** Epoch ms of the response's `Date` header: the service's clock when it answered. */
  readonly serverDate: number | undefined;
}

export type ExportApiErrorCode =
  | 'BadRequest' // 400, 422 and other 4xx without a code of their own
  | 'Unauthorized' // 401
  | 'Forbidden' // 403
  | 'NotFound' // 404
  | 'Gone' // 410
  | 'Conflict' // 409
  | 'AnotherExportRuns' // 409 for a start: another job of the project is not finished
  | 'RateLimited' // 429
  | 'ServerError' // 5xx
  | 'UnexpectedAnswer' // a 2xx (or a redirect) that breaks the contract: HTML, empty, no jobId
  | 'RequestTimeout' // the client's deadline expired
  | 'NetworkError' // no answer at all
  | 'ExportApiNotTrusted' // nothing was sent
  | 'Aborted'; // the caller's signal

/** What the same call gives again. */
const lasting: ReadonlySet<ExportApiErrorCode> = new Set([
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'Gone',
  'ExportApiNotTrusted',
]);

/**
 * The only error that the client throws. The message is made of code, status, this client's own text and `said`. A class of its
 * own, because callers read the status and the id of the request.
 */
export class ExportApiError extends PublishableError<ExportApiErrorCode> {
  readonly status: number | undefined;
  /** From `x-request-id` and similar headers, printable and bounded, for a support ticket. */
  readonly requestId: string | undefined;
  /** The export API's own words, as an excerpt without secrets. The message repeats it. */
  readonly said: string | undefined;

  constructor(
    code: ExportApiErrorCode,
    message: string,
    details: {
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly requestId?: string | undefined;
      readonly said?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(code, withWords(message, details.said), {
      kind: lasting.has(code) ? 'stall' : 'retry',
      ...details,
    });
    this.status = details.status;
    this.requestId = details.requestId;
    this.said = details.said;
  }
}

/** A message, and the words of the export API after it. */
export function withWords(message: string, said: string | undefined): string {
  return said === undefined ? message : `${message}. It answered: "${said}"`;
}

/** The calls that publishing needs, bound to one base URL and key. Rejects with ExportApiError only. */
export interface ExportApi {
  /** @param request its domain is not sent to a project */
  startJob(
    request: { readonly domain: string | undefined; readonly idempotencyKey: string },
    signal: AbortSignal,
  ): Promise<StartedJob>;
  readJob(jobId: string, signal: AbortSignal): Promise<JobReport>;
  issueLink(
    request: { readonly jobId: string; readonly idempotencyKey: string },
    signal: AbortSignal,
  ): Promise<IssuedLink>;
}
