// The client of the export API: four calls bound to one base URL and key, each with one exchange and one parser.
// Owns the meaning of answers (any 2xx with a job id starts a job; a redirect is never followed). Refuses:
// retrying, polling, pacing. The caller decides when to call again, with the help of `retryAfterMs`.

import { readJson } from '../wire/json-text.ts';
import {
  type ExportApi,
  ExportApiError,
  type IssuedLink,
  type JobReport,
  type StartedJob,
} from './answers.ts';
import { bundlePath, conversationsPath, jobPath, jobsPath, pageLimits } from './contract.ts';
import {
  type ConversationPage,
  type ConversationQuery,
  readConversationPage,
} from './conversation-answers.ts';
import { type ApiRequest, createExchange, type ExchangeOptions } from './exchange.ts';
import { isIdentifier, readIssuedLink, readJobId, readJobReport } from './job-answers.ts';
import { type Answer, refusalOf, retryAfterOf, serverDateOf, unexpectedAnswer } from './refusals.ts';

export interface ExportApiClient extends ExportApi {
  /** One page. `pagesOf` in conversation-pages.ts reads further pages. */
  listConversations(query: ConversationQuery, signal: AbortSignal): Promise<ConversationPage>;
}

/**
 * The limit of an answer about one job. Parsing 1 MiB of members or brackets would block the caller's thread for
 * 200 ms.
 */
export const longestAnswerBytes = 128 * 1024;
const maxListingBytes = 64 * 1024 * 1024;

/**
 * Never throws itself. An unusable key or base URL rejects every call (`Unauthorized` or `BadRequest`, without a
 * status) before anything is sent. All calls reject with {@link ExportApiError} only.
 */
export function createExportApiClient(options: ExchangeOptions): ExportApiClient {
  const { clock, key } = options;
  const exchange = createExchange(options);

  /** Sends, and parses a 2xx with `read`. If `read` returns `undefined`, the answer lacks `wanted`. */
  async function call<T>(
    request: ApiRequest,
    wanted: string,
    read: (body: unknown, answer: Answer) => T | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    const answer = await exchange(request, signal);
    if (answer.status < 200 || answer.status > 299) throw refusalOf(answer, clock.now(), key);
    const result = read(readJson(answer.text), answer);
    if (result === undefined) throw unexpectedAnswer(answer, wanted, key);
    return result;
  }

  return {
    startJob: ({ domain, idempotencyKey }, signal) =>
      call<StartedJob>(
        { method: 'POST', path: jobsPath, body: { domain }, idempotencyKey, maxBytes: longestAnswerBytes },
        'a usable jobId',
        (raw, answer) => {
          const jobId = readJobId(raw, answer.headers.get('location'), key);
          return jobId === undefined
            ? undefined
            : { jobId, retryAfterMs: retryAfterOf(answer, clock.now()), raw };
        },
        signal,
      ),
    readJob: async (jobId, signal) =>
      call<JobReport>(
        { method: 'GET', path: jobPath(checkedId(jobId, 'job id')), maxBytes: longestAnswerBytes },
        'a job',
        (raw, answer) => {
          const report = readJobReport(raw, key);
          return report && { ...report, retryAfterMs: retryAfterOf(answer, clock.now()) };
        },
        signal,
      ),
    issueLink: async ({ jobId, idempotencyKey }, signal) =>
      call<IssuedLink>(
        {
          method: 'POST',
          path: bundlePath(checkedId(jobId, 'job id')),
          idempotencyKey,
          maxBytes: longestAnswerBytes,
        },
        'an http(s) bundleUrl',
        (raw, answer) => readIssuedLink(raw, serverDateOf(answer.headers)),
        signal,
      ),
    listConversations: async (query, signal) =>
      call<ConversationPage>(
        { method: 'GET', path: listingPath(query), maxBytes: maxListingBytes },
        'conversations',
        (raw) => readConversationPage(raw),
        signal,
      ),
  };
}

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

function checkedId(id: string, what: string): string {
  if (isIdentifier(id)) return id;
  throw new ExportApiError('BadRequest', `the ${what} cannot be part of an address; nothing was sent`);
}
