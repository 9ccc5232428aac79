// One HTTP exchange with the export API: it sends one request and returns the whole bounded answer. Owns the
// deadline, the abort, the size limit and the key's header. Refuses: following a redirect, decoding a body,
// retrying. Invariant: rejects with ExportApiError only, and no message contains text from the service.

import { type Dispatcher, getGlobalDispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { unlessAborted, withinLimit } from '../runtime/time-limit.ts';
import { describeConnectionFault } from '../wire/connection-fault.ts';
import { publishableCode } from '../wire/publishable-error.ts';
import { ExportApiError } from './answers.ts';
import type { Answer } from './refusals.ts';

export interface ExchangeOptions {
  /** May carry a path prefix. */
  readonly baseUrl: string;
  readonly key: string;
  readonly clock: Clock;
  /** The limit of one whole request, including connecting and reading. */
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly dispatcher?: Dispatcher;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly maxBytes: number;
}

export type Exchange = (request: ApiRequest, signal: AbortSignal) => Promise<Answer>;

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
        // A connection in progress ignores the signal, and a connection through a proxy also ignores this client's
        // limit.
        return await unlessAborted(send(options, base, request, limit), limit);
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
  { key, userAgent, dispatcher }: ExchangeOptions,
  { origin, prefix }: Base,
  { method, path, body, idempotencyKey, maxBytes }: ApiRequest,
  signal: AbortSignal,
): Promise<Answer> {
  signal.throwIfAborted();
  const response = await (dispatcher ?? getGlobalDispatcher()).request({
    origin,
    path: `${prefix}${path}`,
    method,
    headers: {
      accept: 'application/json, application/problem+json;q=0.9',
      authorization: `Bearer ${key}`,
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal,
    // The one deadline covers everything. undici's own timeout would end a long timeoutMs early.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    status: response.statusCode,
    headers: firstValues(response.headers),
    body: await readBody(response.statusCode, response.body, maxBytes),
  };
}

/** A refusal is read from its status and headers, so a long one is cut. A successful answer must be complete. */
async function readBody(status: number, body: AsyncIterable<unknown>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue;
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.byteLength;
    if (size <= maxBytes) continue;
    if (status >= 200 && status < 300) throw tooLarge(status, maxBytes);
    break;
  }
  return Buffer.concat(chunks);
}

function firstValues(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value;
      return first === undefined ? [] : [[name.toLowerCase(), first] as const];
    }),
  );
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
  if (deadline.aborted) {
    return new ExportApiError('RequestTimeout', `the export API did not answer within ${timeoutMs} ms`, {
      cause: error,
    });
  }
  const { what, remedy } = describeConnectionFault(publishableCode(error));
  const step = remedy === undefined ? '' : `. ${remedy}`;
  const message = `the export API at ${new URL(origin).host} ${what}${step}`;
  return new ExportApiError('NetworkError', message, { cause: error });
}
