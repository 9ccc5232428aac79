// The client of jobs of the export API: three calls bound to one base URL and key, each with one exchange and one parser;
// listing-client.ts has the fourth. Owns the meaning of answers (any 2xx with a job id starts a job; a redirect is never followed). Refuses:
// retrying, polling, pacing. The caller decides when to call again, with the help of `retryAfterMs`.

import {
  headerOf,
  isSuccess,
  retryAfterOf,
  serverDateOf,
  type WholeAnswer,
} from '#platform/http/exchange.ts';
import { readJson } from '#platform/wire/json-text.ts';
import {
  type ExportApi,
  ExportApiError,
  type IssuedLink,
  type JobReport,
  type StartedJob,
} from './answers.ts';
import { bundlePath, jobPath, jobsPath } from './contract.ts';
import { type ApiRequest, createExchange, type ExchangeOptions } from './exchange.ts';
import { isIdentifier, readIssuedLink, readJobId, readJobReport } from './job-answers.ts';
import { apiErrorOf, bodyText, longestAnswerBytes, unexpectedApiAnswer } from './refusals.ts';

/**
 * Never throws itself. An unusable key or base URL rejects every call (`Unauthorized` or `BadRequest`, without a
 * status) before anything is sent. All calls reject with {@link ExportApiError} only.
 */
export function createExportApiClient(options: ExchangeOptions): ExportApi {
  const { clock, key } = options;
  const call = createCaller(options);
  return {
    startJob: ({ domain, idempotencyKey }, signal) =>
      call<StartedJob>(
        { method: 'POST', path: jobsPath, body: { domain }, idempotencyKey, maxBytes: longestAnswerBytes },
        'a usable jobId',
        (answer) => {
          const raw = readJson(bodyText(answer.bytes));
          const jobId = readJobId(raw, headerOf(answer, 'location'), key);
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
        (answer) => {
          const raw = readJson(bodyText(answer.bytes));
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
        (answer) => readIssuedLink(readJson(bodyText(answer.bytes)), serverDateOf(answer)),
        signal,
      ),
  };
}

/**
 * @returns a function that sends a request, and reads a 2xx with `read`; where that returns `undefined`, the answer lacks
 *   `wanted`
 */
export function createCaller(options: ExchangeOptions) {
  const { clock, key } = options;
  const exchange = createExchange(options);
  return async <T>(
    request: ApiRequest,
    wanted: string,
    read: (answer: WholeAnswer) => T | undefined | Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<T> => {
    const answer = await exchange(request, signal);
    if (!isSuccess(answer)) throw apiErrorOf(answer, clock.now(), key);
    const result = await read(answer);
    if (result === undefined) throw unexpectedApiAnswer(answer, wanted, key);
    return result;
  };
}

/** @throws {ExportApiError} */
export function checkedId(id: string, what: string): string {
  if (isIdentifier(id)) return id;
  throw new ExportApiError('BadRequest', `the ${what} cannot be part of an address; nothing was sent`);
}
