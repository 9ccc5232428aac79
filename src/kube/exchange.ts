// One request to the API server and its whole answer as text, by the shortest way through undici: a handler of its own
// instead of a stream per body, which costs as much of the processor as the request. The caller's signal is the only
// limit. Refuses: judging an answer, and retrying.

import type { Dispatcher } from 'undici';

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  text(): Promise<string>;
}

export type Sending = Pick<Dispatcher.DispatchOptions, 'path' | 'method' | 'headers' | 'body'> & {
  readonly origin: string;
};

/** @throws the signal's reason, or what undici says of the connection */
export function exchange(dispatcher: Dispatcher, sending: Sending, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const chunks: Uint8Array[] = [];
    let status = 0;
    let retryAfter: string | null = null;
    let running: Dispatcher.DispatchController | undefined;
    const abort = (): void => {
      running?.abort(reasonOf(signal));
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    dispatcher.dispatch(sending, {
      onRequestStart: (controller) => {
        running = controller;
        // It waited for a connection, and nobody wants it any more.
        if (signal.aborted) controller.abort(reasonOf(signal));
      },
      onResponseStart: (_controller, statusCode, headers) => {
        status = statusCode;
        retryAfter = [headers['retry-after']].flat()[0] ?? null;
      },
      onResponseData: (_controller, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => {
        signal.removeEventListener('abort', abort);
        resolve({ status, retryAfter, text: async () => textOf(chunks) });
      },
      onResponseError: (_controller, error) => {
        signal.removeEventListener('abort', abort);
        reject(error);
      },
    });
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new DOMException('stopped', 'AbortError');
}

function textOf(chunks: readonly Uint8Array[]): string {
  const [only] = chunks;
  const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
