// Small operations over a stream of bytes as an async iterable: read its start, bound its size, transform it. Invariant: a consumer
// that stops early closes the source; errors of the source pass through unchanged.

import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export type Bytes = AsyncIterable<Buffer>;

export interface Peeked {
  /** The first bytes, fewer than asked for only if there are no more. */
  readonly head: Buffer;
  /** All of the stream, the head included. */
  readonly bytes: Bytes;
  /** Lets the source go; needed where `bytes` is never read. */
  close(): void;
}

/** @param count bytes wanted in `head` */
export async function peek(source: Bytes, count: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let length = 0;
  let isDone = false;
  while (length < count && !isDone) {
    const next = await iterator.next();
    isDone = next.done === true;
    if (next.done !== true) {
      chunks.push(next.value);
      length += next.value.length;
    }
  }
  const close = (): void => letGo(iterator);
  async function* all(): AsyncGenerator<Buffer> {
    try {
      yield* chunks;
      while (!isDone) {
        const next = await iterator.next();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      close();
    }
  }
  return { head: Buffer.concat(chunks).subarray(0, count), bytes: all(), close };
}

/**
 * Closes a source without waiting. A source with a pending read closes only after that chunk arrives, and a verdict
 * must not wait for a silent storage. The code that opened the connection ends it.
 */
export function letGo(iterator: AsyncIterator<Buffer>): void {
  iterator.return?.().catch(() => {});
}

/** Passes everything on and shows each chunk to `see`, whose error ends the stream. */
export async function* watch<T extends Uint8Array>(
  source: AsyncIterable<T>,
  see: (chunk: T) => void,
): AsyncGenerator<T> {
  for await (const chunk of source) {
    see(chunk);
    yield chunk;
  }
}

/**
 * What a compressor or decoder makes of the bytes. A decoder may see an end before theirs; the caller judges what it left
 * unread.
 *
 * @throws the transform's errors as they are, and those of the bytes
 */
export async function* throughTransform(
  bytes: AsyncIterable<Uint8Array>,
  transform: Transform,
): AsyncGenerator<Buffer> {
  const feeding = pipeline(Readable.from(bytes, { highWaterMark: 1 }), transform);
  feeding.catch(() => {}); // the same error comes out of the transform below
  try {
    for await (const chunk of transform) yield chunk;
    await feeding.catch(passEarlyEnd);
  } finally {
    transform.destroy();
  }
}

/** A decoder that ended by itself closes before its input is through. */
function passEarlyEnd(error: unknown): void {
  const isEarlyEnd = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
  if (!isEarlyEnd) throw error;
}
