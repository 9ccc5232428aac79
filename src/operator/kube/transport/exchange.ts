// One request to the API server. The whole answer is collected by an undici handler instead of a stream per body, which
// costs as much CPU as the request. The caller's signal is the only limit of time.
// Refuses: judging an answer, retrying, and holding more of an answer than memory allows.

import type { Dispatcher } from 'undici';
import { unlessAborted } from '#platform/runtime/time-limit.ts';

export interface ClusterAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** @throws {OversizeError} */
  text(): Promise<string>;
}

interface StreamedAnswer extends ClusterAnswer {
  readonly chunks: AsyncIterable<Uint8Array>;
}

export type OutgoingRequest = Pick<Dispatcher.DispatchOptions, 'path' | 'method' | 'headers' | 'body'> & {
  readonly origin: string;
};

/** How one request is sent: for a whole answer, or for a stream. */
export type Send<A extends ClusterAnswer> = (
  dispatcher: Dispatcher,
  request: OutgoingRequest,
  signal: AbortSignal,
  limits: RequestLimits,
) => Promise<A>;

export interface RequestLimits {
  readonly permit?: Permit | undefined;
  /** Of the body as it is on the wire. Does not apply to a stream. */
  readonly maxBytes: number;
}

/** Called once a connection is available, before the first byte is sent. Its error rejects the request. */
export type Permit = () => void;

/** The connection was closed before a status came: the server may or may not have received the request. */
export class UnansweredError extends Error {}

/** An answer above the size limit. */
export class OversizeError extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super('an answer is too large');
    this.maxBytes = maxBytes;
  }
}

/** The deadline passed in the middle of an answer. */
export class UnfinishedError extends Error {}

/** Where a call sets no lower limit. Twice this much, parsed, is all the memory that the chart grants. */
export const maxAnswerBytes = 64 * 1024 * 1024;

/** Codes of a connection that the other end closed, by the system and by undici. */
const closedCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * @throws the signal's reason, {UnfinishedError} where that is a deadline and a part of the answer is here, what the permit
 * throws, {UnansweredError}, {OversizeError}, or undici's error about the connection
 */
export const exchange: Send<ClusterAnswer> = (dispatcher, request, signal, { permit, maxBytes }) =>
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
      // Before undici rejects with an error of its own.
      reject(isLate ? new UnfinishedError('part of an answer', { cause }) : signal.reason);
      running?.abort(reasonOf(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
    dispatcher.dispatch(request, {
      onRequestStart: (controller) => {
        running = controller;
        // It was aborted while it waited for a connection.
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
export const openStream: Send<StreamedAnswer> = async (dispatcher, request, signal) => {
  signal.throwIfAborted();
  const opening = dispatcher.request({ ...request, signal });
  // A connection attempt ignores the signal; its late result is discarded.
  const opened = unlessAborted(opening, signal);
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
