// Small operations over a stream of bytes as an async iterable: read its start, bound its size. Invariant: a consumer
// that stops early closes the source; errors of the source pass through unchanged.

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
export async function* watch(source: Bytes, see: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    see(chunk);
    yield chunk;
  }
}
