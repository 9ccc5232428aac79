// Reads the body of a call, within bounds of size, time and number. Refuses what is longer, slower or compressed, and reads nothing of a
// body that says so itself. Invariant: what all bodies under way take is bounded by their number.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, hasWaited } from '#platform/runtime/clock.ts';
import { maxCallBytes } from './mcp-task.ts';

export type CallBody =
  | { readonly bytes: Uint8Array }
  | { readonly status: 400 | 408 | 413 | 415 | 429; readonly sentence: string };

const longestReadMs = 10_000;
/** A client that sends slowly takes one of these, and none of the thread's calls. */
const mostReading = 64;

const tooLong: CallBody = { status: 413, sentence: `A call has at most ${maxCallBytes} bytes.` };
const compressed: CallBody = { status: 415, sentence: 'Calls are sent uncompressed.' };
const tooMany: CallBody = { status: 429, sentence: 'Too many calls are being received. Try again soon.' };
const tooSlow: CallBody = { status: 408, sentence: 'The call was sent too slowly.' };
const brokenOff: CallBody = { status: 400, sentence: 'The call is not whole.' };

/** Never rejects. */
export type ReadCallBody = (request: IncomingMessage, response: ServerResponse) => Promise<CallBody>;

export function createBodyReader(clock: Pick<Clock, 'after'>): ReadCallBody {
  let reading = 0;
  return async (request, response) => {
    const { headers } = request;
    if (Number(headers['content-length'] ?? 0) > maxCallBytes) return tooLong;
    if (headers['content-encoding'] !== undefined) return compressed;
    if (reading >= mostReading) return tooMany;
    // The port continues no request by itself, because without agents none has a body.
    if (headers.expect !== undefined) response.writeContinue();
    reading += 1;
    const done = new AbortController();
    try {
      const late = hasWaited(clock, longestReadMs, done.signal).then(() => tooSlow);
      return await Promise.race([readWithin(request), late]);
    } finally {
      done.abort('done');
      reading -= 1;
    }
  };
}

function readWithin(request: IncomingMessage): Promise<CallBody> {
  const { promise, resolve } = Promise.withResolvers<CallBody>();
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer): void => {
    length += chunk.length;
    if (length <= maxCallBytes) chunks.push(chunk);
    else resolve(tooLong);
  };
  request
    .on('data', take)
    .once('end', () => resolve({ bytes: Uint8Array.from(Buffer.concat(chunks)) }))
    .once('error', () => resolve(brokenOff))
    .once('close', () => resolve(brokenOff));
  return promise.finally(() => request.off('data', take));
}
