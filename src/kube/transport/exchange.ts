// One request to the API server. Its whole answer as text comes by the shortest way through undici: a handler of its
// own instead of a stream per body, which costs as much of the processor as the request. The caller's signal is the
// only limit of time. Refuses: judging an answer, retrying, and holding more of an answer than memory has room for.

import type { Dispatcher } from 'undici';
import { unlessAborted } from '../../runtime/flags/patience.ts';

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** @throws {OversizeError} */
  text(): Promise<string>;
}

interface StreamedAnswer extends Answer {
  readonly chunks: AsyncIterable<Uint8Array>;
}

export type Sending = Pick<Dispatcher.DispatchOptions, 'path' | 'method' | 'headers' | 'body'> & {
  readonly origin: string;
};

/** How one request is sent: for a whole answer, or for a stream. */
export type Send<A extends Answer> = (
  dispatcher: Dispatcher,
  sending: Sending,
  signal: AbortSignal,
  terms: Terms,
) => Promise<A>;

export interface Terms {
  readonly permit?: Permit | undefined;
  /** Of the body as it is on the wire. Not asked of a stream. */
  readonly maxBytes: number;
}

/** Asked when a connection is there, the moment before the first byte leaves. What it throws is thrown instead. */
export type Permit = () => void;

/** The connection was closed before a status came: nobody knows whether the server has seen the request. */
export class UnansweredError extends Error {}

/** An answer that is larger than what is read of one. */
export class OversizeError extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super('an answer is too large');
    this.maxBytes = maxBytes;
  }
}

/** The time was over in the middle of an answer. */
export class UnfinishedError extends Error {}

/** Of an answer that asks for less. Twice this much, parsed, would be all the memory that the chart gives. */
export const maxAnswerBytes = 64 * 1024 * 1024;

/** What the other end does to a connection, in the words of the system and of undici. */
const closedCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * @throws the signal's reason, {UnfinishedError} where that is a deadline and a part of the answer is here, what the permit
 * throws, {UnansweredError}, {OversizeError}, or what undici says of the connection
 */
export const exchange: Send<Answer> = (dispatcher, sending, signal, { permit, maxBytes }) =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    let status = 0;
    let retryAfter: string | null = null;
    let running: Dispatcher.DispatchController | undefined;
    const abort = (): void => {
      const cause = reasonOf(signal);
      const isLate = sizeBytes > 0 && cause.name === 'TimeoutError';
      // Before undici hears of it, which says so at once in its own words.
      reject(isLate ? new UnfinishedError('part of an answer', { cause }) : signal.reason);
      running?.abort(reasonOf(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
    dispatcher.dispatch(sending, {
      onRequestStart: (controller) => {
        running = controller;
        // It waited for a connection, and nobody wants it any more.
        if (signal.aborted) controller.abort(reasonOf(signal));
        else permit?.();
      },
      onResponseStart: (_controller, statusCode, headers) => {
        status = statusCode;
        retryAfter = [headers['retry-after']].flat()[0] ?? null;
      },
      onResponseData: (controller, chunk) => {
        sizeBytes += chunk.byteLength;
        if (sizeBytes <= maxBytes) chunks.push(chunk);
        else controller.abort(new OversizeError(maxBytes));
      },
      onResponseEnd: () => {
        signal.removeEventListener('abort', abort);
        resolve({ status, retryAfter, text: async () => textOf(chunks) });
      },
      onResponseError: (_controller, error) => {
        signal.removeEventListener('abort', abort);
        reject(status === 0 ? asUnanswered(error) : error);
      },
    });
  });

/** Resolves with the headers. @throws as `exchange`; what only reads needs no permit */
export const openStream: Send<StreamedAnswer> = async (dispatcher, sending, signal) => {
  signal.throwIfAborted();
  const opening = dispatcher.request({ ...sending, signal });
  // A connection that is being made heeds no signal; what comes of it later is for nobody.
  const opened = unlessAborted(opening, signal, ({ reason }) => reason);
  const { statusCode, headers, body } = await opened.catch((error: unknown) => {
    opening.then(
      (late) => late.body.on('error', () => {}).destroy(),
      () => {},
    );
    throw asUnanswered(error);
  });
  const [retryAfter = null] = [headers['retry-after']].flat();
  return { status: statusCode, retryAfter, text: () => readText(body), chunks: body };
};

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxAnswerBytes) throw new OversizeError(maxAnswerBytes);
    chunks.push(chunk);
  }
  return textOf(chunks);
}

function asUnanswered(error: unknown): unknown {
  const isClosed = error instanceof Error && 'code' in error && closedCodes.has(error.code);
  return isClosed ? new UnansweredError('closed before a status came', { cause: error }) : error;
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new DOMException('stopped', 'AbortError');
}

function textOf(chunks: readonly Uint8Array[]): string {
  const [only] = chunks;
  const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
