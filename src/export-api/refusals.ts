// Converts an unsuccessful answer to one ExportApiError. Pure. Owns the table from status to code. Messages are code, status,
// this client's own advice, and an excerpt of what the service said. Refuses: words of a page, XML or a long body.

import { headerOf, retryAfterOf, type WholeAnswer } from '#platform/http/exchange.ts';
import { messageIn } from '#platform/wire/foreign-words.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { ExportApiError, type ExportApiErrorCode } from './answers.ts';
import { containsSecret, shownWords } from './secret-text.ts';

const codeByStatus: Readonly<Record<number, ExportApiErrorCode>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  429: 'RateLimited',
};

const advice: Readonly<Record<ExportApiErrorCode, string>> = {
  BadRequest: 'refused the request; check the domain and the base URL',
  Unauthorized:
    'returned 401 for this key; check that it is complete, not expired, and belongs to this service',
  Forbidden:
    "returned 403 for this key; check the key's permissions, your plan, the domain and the vendor's IP allow-list",
  NotFound: 'found nothing at this address; the job was removed, or the base URL is wrong',
  Gone: 'no longer has this job',
  Conflict: 'refused the request in the present state of the job',
  AnotherExportRuns: 'runs another job of this project; wait until it ends',
  RateLimited: 'limits the rate of requests',
  ServerError: 'failed',
  UnexpectedAnswer: 'gave an answer that breaks the contract',
  RequestTimeout: 'did not answer in time',
  NetworkError: 'could not be reached',
  ExportApiNotTrusted: 'showed a certificate that is not trusted',
  Aborted: 'was not asked, because the caller stopped',
};

/** What a status means for one call, where it differs from the other calls. */
export interface CallWords {
  readonly codes?: Readonly<Record<number, ExportApiErrorCode>>;
  readonly advice?: Readonly<Partial<Record<ExportApiErrorCode, string>>>;
}

export function codeOfStatus(status: number): ExportApiErrorCode {
  if (status < 400) return 'UnexpectedAnswer';
  return codeByStatus[status] ?? (status >= 500 ? 'ServerError' : 'BadRequest');
}

/**
 * @param now epoch ms, for a dated Retry-After when the answer itself has no `Date`
 * @param key the API key, so that a request id that contains it is left out
 */
export function apiErrorOf(
  answer: WholeAnswer,
  now: number,
  key: string,
  { codes = {}, advice: own = {} }: CallWords = {},
): ExportApiError {
  // Storages and proxies answer 401 and 403 with XML or a page. That says nothing about the key.
  const { statusCode: status, bytes } = answer;
  if ((status === 401 || status === 403) && isMarkup(bytes)) {
    return unexpectedApiAnswer(answer, 'a JSON error', key);
  }
  const code = codes[status] ?? codeOfStatus(status);
  const words =
    status >= 300 && status < 400
      ? 'redirects, which is not followed with a key; set the base URL to the final address'
      : (own[code] ?? advice[code]);
  const said = words.startsWith('returned') ? words : `${words} (status ${status})`;
  return new ExportApiError(code, `the export API ${said}`, {
    status,
    retryAfterMs: retryAfterOf(answer, now),
    requestId: requestIdOf(answer, key),
    said: saidIn(bytes, key),
  });
}

/** An export API's own words say more than its status: which domain, which quota. */
function saidIn(body: Uint8Array, key: string): string | undefined {
  if (body.byteLength > longestAnswerBytes) return undefined;
  const text = bodyText(body);
  return shownWords(messageIn(text, readJson(text)), key);
}

function isMarkup(body: Uint8Array): boolean {
  return bodyText(body.subarray(0, 200)).trimStart().startsWith('<');
}

/** A 2xx without the requested value. @param lacks for example `a jobId` */
export function unexpectedApiAnswer(answer: WholeAnswer, lacks: string, key: string): ExportApiError {
  const { statusCode: status, bytes } = answer;
  const found = describeBody(bytes);
  return new ExportApiError(
    'UnexpectedAnswer',
    `the export API answered ${status} with ${found} and without ${lacks}: check that the base URL is the API's`,
    {
      status,
      requestId: requestIdOf(answer, key),
    },
  );
}

const requestIdHeaders = ['x-request-id', 'request-id', 'x-amzn-requestid', 'x-correlation-id', 'cf-ray'];

function requestIdOf(answer: WholeAnswer, key: string): string | undefined {
  return requestIdHeaders
    .map((name) => headerOf(answer, name)?.trim() ?? '')
    .find((value) => /^[\w.:/+=-]{1,128}$/.test(value) && !containsSecret(value, key));
}

/**
 * The limit of an answer about one job, and of what is parsed at once. Parsing 1 MiB of members or brackets would block the
 * caller's thread for 200 ms.
 */
export const longestAnswerBytes = 128 * 1024;

/** Without a byte order mark. */
export const bodyText = (body: Uint8Array): string => new TextDecoder().decode(body);

function describeBody(body: Uint8Array): string {
  if (body.byteLength > longestAnswerBytes) return 'a large body';
  const text = bodyText(body);
  const start = text.trimStart().slice(0, 200).toLowerCase();
  if (start === '') return 'an empty body';
  if (start.startsWith('<!doctype html') || start.startsWith('<html')) return 'an HTML page';
  if (start.startsWith('<')) return 'XML';
  return readJson(text) === undefined ? 'something that is not JSON' : 'JSON';
}
