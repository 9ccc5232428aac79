// Converts an unsuccessful answer to one ExportApiError. Pure. Owns the table from status to code, and the excerpt:
// the service's message, from any of the known error bodies. Refuses: text from the service in a message. Messages
// are code, status and this client's own advice.

import { printable } from '../wire/printable-text.ts';
import { parseRetryAfter } from '../wire/retry-after.ts';
import { ExportApiError, type ExportApiErrorCode } from './answers.ts';
import { readWordedDate } from './instants.ts';
import { membersOf } from './job-answers.ts';
import { containsSecret } from './secret-text.ts';

/** A whole answer, unchanged. Header names are lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** At most as long as the client's limit. */
  readonly text: string;
}

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
  BadRequest: 'refused the request: check the domain and the base URL',
  Unauthorized: 'does not accept the key: check that it is whole, not expired, and belongs to this service',
  Forbidden: 'forbids this to the key: check its scopes, the plan, and address allow-lists',
  NotFound: 'knows nothing at this address: the job is gone, or the base URL is wrong',
  Gone: 'no longer has this job',
  Conflict: 'says that the job is not in a state for this',
  RateLimited: 'asks to slow down',
  ServerError: 'failed',
  UnexpectedAnswer: 'gave an answer that the contract does not know',
  RequestTimeout: 'did not answer in time',
  NetworkError: 'could not be reached',
  Aborted: 'was not waited for',
};

export function codeOfStatus(status: number): ExportApiErrorCode {
  if (status < 400) return 'UnexpectedAnswer';
  return codeByStatus[status] ?? (status >= 500 ? 'ServerError' : 'BadRequest');
}

/**
 * @param now epoch ms, for a dated Retry-After when the answer itself has no `Date`
 * @param key the API key, cut out of all repeated text
 */
export function refusalOf(answer: Answer, now: number, key: string): ExportApiError {
  const code = codeOfStatus(answer.status);
  const words =
    answer.status >= 300 && answer.status < 400
      ? 'redirects, which is not followed with a key: set the base URL to the final address'
      : advice[code];
  return new ExportApiError(code, `the export API ${words} (status ${answer.status})`, {
    status: answer.status,
    retryAfterMs: retryAfterOf(answer, now),
    requestId: requestIdOf(answer.headers, key),
    excerpt: excerptOf(answer.text, key),
  });
}

/** A 2xx without the requested value. @param lacks for example `a jobId` */
export function unexpectedAnswer(answer: Answer, lacks: string, key: string): ExportApiError {
  const found = describeBody(answer.text);
  return new ExportApiError(
    'UnexpectedAnswer',
    `the export API answered ${answer.status} with ${found} and without ${lacks}: check that the base URL is the API's`,
    {
      status: answer.status,
      requestId: requestIdOf(answer.headers, key),
      excerpt: excerptOf(answer.text, key),
    },
  );
}

/** Milliseconds from now. A dated form is compared with the service's own clock if the answer shows it. */
export function retryAfterOf(answer: Answer, now: number): number | undefined {
  return parseRetryAfter(answer.headers.get('retry-after'), serverDateOf(answer.headers) ?? now);
}

/** Epoch ms of the `Date` header (RFC 9110 §6.6.1). */
export function serverDateOf(headers: ReadonlyMap<string, string>): number | undefined {
  return readWordedDate(headers.get('date') ?? '');
}

const requestIdHeaders = ['x-request-id', 'request-id', 'x-amzn-requestid', 'x-correlation-id', 'cf-ray'];

function requestIdOf(headers: ReadonlyMap<string, string>, key: string): string | undefined {
  return requestIdHeaders
    .map((name) => headers.get(name)?.trim() ?? '')
    .find((value) => /^[\w.:/+=-]{1,128}$/.test(value) && !containsSecret(value, key));
}

function describeBody(text: string): string {
  const start = text.trimStart().slice(0, 200).toLowerCase();
  if (start === '') return 'an empty body';
  if (start.startsWith('<!doctype html') || start.startsWith('<html')) return 'an HTML page';
  if (start.startsWith('<')) return 'XML';
  return parseJson(text) === undefined ? 'something that is not JSON' : 'JSON';
}

/** `undefined` for text that is not JSON (and for nothing else: JSON has no undefined). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const longestExcerpt = 200;

/**
 * One line of the service's message: `{error}`, `{error: {message}}`, `{error, details[]}`, problem+json (RFC 9457
 * `title`, `detail`), an XML `<Message>`, an HTML `<title>`, plain text. `undefined` if there is none.
 */
export function excerptOf(text: string, key: string): string | undefined {
  const body = text.slice(0, 64 * 1024);
  const json = membersOf(parseJson(body));
  const said = json === undefined ? markupText(body) : [...jsonTexts(json)].join(': ');
  const line = printable(redact(said, key).trim(), longestExcerpt);
  return line === '' ? undefined : line;
}

function* jsonTexts(members: Readonly<Record<string, unknown>>): Generator<string> {
  const error = members['error'];
  for (const value of [error, membersOf(error)?.['message'], members['title'], members['detail']]) {
    if (typeof value === 'string' && value !== '') yield value;
  }
  const message = members['message'];
  if (typeof message === 'string' && typeof error !== 'string') yield message;
  const details = members['details'] ?? members['errors'];
  for (const detail of Array.isArray(details) ? details.slice(0, 5) : []) {
    const words: unknown = typeof detail === 'string' ? detail : membersOf(detail)?.['message'];
    if (typeof words === 'string') yield words;
  }
}

function markupText(text: string): string {
  const found = /<Message>([^<]{1,1000})<|<title>([^<]{1,1000})</i.exec(text);
  if (found !== null) return found[1] ?? found[2] ?? '';
  return text.trimStart().startsWith('<') ? '' : text;
}

/** Finds `://` and then searches backwards. A search for the scheme first would scan to the end from every letter. */
function withoutLink(word: string): string {
  const mark = word.indexOf('://');
  if (mark < 0) return word;
  let start = mark;
  while (start > 0 && /[a-z0-9+.-]/i.test(word[start - 1] ?? '')) start -= 1;
  return `${word.slice(0, start)}[link]`;
}

/** Cuts out keys, links, bearer credentials and any text long enough to be one. Returns one printable line. */
function redact(text: string, key: string): string {
  return (key === '' ? text : text.replaceAll(key, '[redacted]'))
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .replace(/\S+/g, withoutLink)
    .replace(/\S+/g, (word) => (containsSecret(word, key) ? '[redacted]' : word))
    .replace(/\bbearer\s+\S+/gi, '[redacted]')
    .replace(/\bsvc_\S+/g, '[redacted]')
    .replace(/[\w%+/=-]{33,}/g, '[redacted]');
}
