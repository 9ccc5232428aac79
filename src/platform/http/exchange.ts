// One request and its answer, as every client of this project sends them: what goes out, what comes back, and the reading
// of a body within a bound. Refuses: following a redirect, decoding a body, retrying. Invariant: no body is left without a
// listener, because its error would end the process.

import type { Readable } from 'node:stream';
import { parseHttpDate, parseRetryAfter } from '#platform/wire/retry-after.ts';

export interface HttpRequest {
  readonly method: string;
  /** User, password and fragment of it are not sent. */
  readonly url: URL;
  /** In place of the URL's path and query, where these must go as they were signed: a URL resolves `..` in them. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Readable | undefined;
}

export interface HttpHead {
  readonly statusCode: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The caller reads the body to its end, leaves its iteration, or calls {@link discard}. */
export interface HttpAnswer extends HttpHead {
  readonly body: Readable;
}

/** A whole answer. */
export interface WholeAnswer extends HttpHead {
  readonly bytes: Buffer;
  /** The body was longer than the bound, or broke off. */
  readonly isCut: boolean;
}

/** The field's first value: fields that may come once only are sent twice by some proxies. */
export function headerOf({ headers }: Pick<HttpHead, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A field that is a list, which may come in several lines (RFC 9110 §5.3). */
export function listHeaderOf({ headers }: Pick<HttpHead, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** @returns epoch milliseconds of the `Date` field: the other side's clock (RFC 9110 §6.6.1) */
export const serverDateOf = (answer: Pick<HttpHead, 'headers'>): number | undefined =>
  parseHttpDate(headerOf(answer, 'date')?.trim() ?? '');

/** @param now epoch milliseconds, where the answer has no `Date` @returns the wait in milliseconds, bounded */
export const retryAfterOf = (answer: Pick<HttpHead, 'headers'>, now: number): number | undefined =>
  parseRetryAfter(headerOf(answer, 'retry-after'), serverDateOf(answer) ?? now);

export const isSuccess = ({ statusCode }: HttpHead): boolean => statusCode >= 200 && statusCode < 300;

export const isRedirect = ({ statusCode }: HttpHead): boolean =>
  [301, 302, 303, 307, 308].includes(statusCode);

/** The same request may get another answer. */
export const isPassing = ({ statusCode }: HttpHead): boolean =>
  [408, 425, 429].includes(statusCode) || statusCode >= 500;

/** @returns where a redirect leads; `undefined` where its `Location` is not a URL */
export function nextHop(from: URL, answer: HttpHead): URL | undefined {
  const location = headerOf(answer, 'location');
  return location === undefined ? undefined : (URL.parse(location, from.href) ?? undefined);
}

/** Ends the connection, unless the body has ended. */
export function discard({ body }: HttpAnswer): void {
  body.destroy();
}

/** The body as it arrives; a consumer that stops early ends the connection. */
export async function* chunksOf({ body }: HttpAnswer): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) if (chunk instanceof Buffer) yield chunk;
  } finally {
    body.destroy();
  }
}

/**
 * Reads at most `maxBytes`. What is not a success is judged by its start, so that one which breaks off counts as cut.
 *
 * @throws the signal's reason; the connection's error where a success breaks off
 */
export async function readWhole(
  answer: HttpAnswer,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<WholeAnswer> {
  const { statusCode, headers } = answer;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let isCut = false;
  try {
    for await (const chunk of chunksOf(answer)) {
      chunks.push(chunk.subarray(0, maxBytes - sizeBytes));
      sizeBytes += chunk.length;
      isCut = sizeBytes > maxBytes;
      if (isCut) break;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (isSuccess(answer)) throw error;
    isCut = true;
  }
  return { statusCode, headers, bytes: Buffer.concat(chunks), isCut };
}
