// One HTTP exchange with the export API: it sends one request and returns the whole bounded answer. Owns the
// deadline, the abort, the size limit and the key's header. Refuses: following a redirect, decoding a body,
// retrying. Invariant: rejects with ExportApiError only, and no message contains text from the service.

import type { HttpAgent } from '#platform/http/agent.ts';
import { isOfCertificate, readConnectionFault } from '#platform/http/connection-fault.ts';
import { isSuccess, readWhole, type WholeAnswer } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { withinLimit } from '#platform/runtime/time-limit.ts';
import { ExportApiError } from './answers.ts';

export interface ExchangeOptions {
  /** May carry a path prefix. */
  readonly baseUrl: string;
  readonly key: string;
  readonly clock: Clock;
  /** The limit of one whole request, including connecting and reading. */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** Its waits are at least `timeoutMs`, and it may reach internal addresses. */
  readonly agent: HttpAgent;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly maxBytes: number;
}

export type Exchange = (request: ApiRequest, signal: AbortSignal) => Promise<WholeAnswer>;

/**
 * Checks the unchanging options once, and rejects every call if they are unusable. A key that no header can carry
 * is `Unauthorized` without a status; an unusable base URL is `BadRequest`. Nothing is sent in either case.
 */
export function createExchange(options: ExchangeOptions): Exchange {
  const base = readBaseUrl(options.baseUrl);
  const canCarryKey = /^[\x21-\x7e]+$/.test(options.key);
  return async (request, signal) => {
    if (base === undefined) throw new ExportApiError('BadRequest', unusableBaseUrl);
    if (!canCarryKey) throw new ExportApiError('Unauthorized', unusableKey);
    if (request.idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(request.idempotencyKey)) {
      throw new ExportApiError(
        'BadRequest',
        'the Idempotency-Key must be 1 to 255 printable ASCII characters',
      );
    }
    return withinLimit(options.clock, options.timeoutMs, signal, async (limit) => {
      try {
        return await send(options, base, request, limit);
      } catch (error) {
        throw failureOf(error, base, signal, limit, options.timeoutMs);
      }
    });
  };
}

const unusableBaseUrl =
  'the base URL must be http:// or https:// without user, query and fragment; nothing was sent';
const unusableKey =
  'the API key is empty or holds a character that no header can carry (a newline, a space, non-ASCII); nothing was sent; store the key without it';

interface Base {
  readonly origin: string;
  readonly prefix: string;
}

function readBaseUrl(text: string): Base | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) return undefined;
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

async function send(
  { key, userAgent, agent }: ExchangeOptions,
  { origin, prefix }: Base,
  { method, path, body, idempotencyKey, maxBytes }: ApiRequest,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  const request = {
    ...{ method, url: new URL(origin), path: `${prefix}${path}` },
    headers: {
      accept: 'application/json, application/problem+json;q=0.9',
      authorization: `Bearer ${key}`,
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
  const answer = await readWhole(await agent.send(request, signal), maxBytes, signal);
  // A refusal is read from its status and headers. A successful answer must be complete.
  if (answer.isCut && isSuccess(answer)) throw tooLarge(answer.statusCode, maxBytes);
  return answer;
}

function tooLarge(status: number, maxBytes: number): ExportApiError {
  return new ExportApiError(
    'UnexpectedAnswer',
    `the export API answered ${status} with more than ${maxBytes} bytes: check that the base URL is the API's`,
    { status, cause: new RangeError('the answer is too long') },
  );
}

function failureOf(
  error: unknown,
  { origin }: Base,
  caller: AbortSignal,
  deadline: AbortSignal,
  timeoutMs: number,
): ExportApiError {
  if (error instanceof ExportApiError) return error;
  if (caller.aborted)
    return new ExportApiError('Aborted', 'the caller stopped the request to the export API', {
      cause: error,
    });
  const { host } = new URL(origin);
  if (deadline.aborted) {
    const message = `the export API at ${host} did not answer in time (${timeoutMs} ms). Check its address and the network`;
    return new ExportApiError('RequestTimeout', message, { cause: error });
  }
  const fault = readConnectionFault(error);
  const code = isOfCertificate(fault) ? 'ExportApiNotTrusted' : 'NetworkError';
  return new ExportApiError(code, `the export API at ${host} ${fault.what}. ${fault.remedy}`, {
    cause: error,
  });
}
