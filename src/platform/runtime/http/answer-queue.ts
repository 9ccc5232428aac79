// Answers the requests of one connection one after another. A client may send many at once (pipelining). Each request
// is handed on only after the previous answer was sent, so no answer is held for a reader that is still behind.
// Requests that were not started are dropped when the connection ends. Invariant: at most one answer of a connection is
// being made, and few requests wait. The rest is never answered, which the last answer announces (`Connection: close`,
// RFC 9112 §9.3.2).

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface AnswerQueue {
  /** The next request, which gets its turn now, later, or never. */
  take(request: IncomingMessage, response: ServerResponse): void;
  /** Requests that were taken and whose answers are not out yet. */
  readonly unanswered: () => number;
  /** True where the latest request came with its body whole, or none came. */
  readonly isLatestWhole: () => boolean;
  /** True once no further request is answered. */
  readonly isFull: () => boolean;
  /** What waits is not answered any more. */
  forget(): void;
}

export interface AnswerQueuePorts {
  readonly socket: Socket;
  /** @param isLast no other answer will follow on this connection */
  readonly answer: (request: IncomingMessage, response: ServerResponse, isLast: boolean) => void;
  /** Whether one more request may wait. */
  readonly mayWait: () => boolean;
  /** Receives by how many the number of waiting requests changed. */
  readonly onWaiting: (more: number) => void;
  /** Called when every accepted request is answered. */
  readonly onIdle: () => void;
}

/** More than any client sends ahead on purpose. */
export const mostUnanswered = 16;

export function createAnswerQueue({
  socket,
  answer,
  mayWait,
  onWaiting,
  onIdle,
}: AnswerQueuePorts): AnswerQueue {
  let latest: IncomingMessage | undefined;
  let isBusy = false;
  let isFull = false;
  let waiting: (readonly [IncomingMessage, ServerResponse])[] = [];

  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    isBusy = true;
    response.once('close', end);
    answer(request, response, isFull && waiting.length === 0);
  };

  const end = (): void => {
    isBusy = false;
    // The answer before was the last one, or its reader has left.
    if (!socket.writable) forget();
    const next = waiting.shift();
    if (next !== undefined) onWaiting(-1);
    if (next === undefined) onIdle();
    else begin(...next);
  };

  const forget = (): void => {
    onWaiting(-waiting.length);
    waiting = [];
  };

  // Not at once: the parser reads on at the end of every request of the piece that it has.
  const stopReading = (): void => queueMicrotask(() => socket.pause());

  return {
    take: (request, response) => {
      latest = request;
      // The last answer is out: a handler that ran now would count an answer that is never sent.
      if (!socket.writable) return;
      if (isFull) {
        // The parser goes on to the end of what it has, and Node keeps what it makes of it until the connection closes.
        onWaiting(1);
        if (mayWait()) stopReading();
        else socket.resetAndDestroy();
        return;
      }
      if (!isBusy) {
        begin(request, response);
      } else if (waiting.length < mostUnanswered - 1 && mayWait()) {
        waiting.push([request, response]);
        onWaiting(1);
      } else {
        isFull = true;
        stopReading();
      }
    },
    unanswered: () => waiting.length + (isBusy ? 1 : 0),
    isLatestWhole: () => latest?.complete !== false,
    isFull: () => isFull,
    forget,
  };
}
