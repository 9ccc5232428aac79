// Takes counted bytes from a stream: a few at once, or many in pieces. Refuses to give fewer than were asked for. Holds one
// chunk of the stream, and what is taken at once.

import { type Bytes, letGo } from '#bundle/byte-stream.ts';
import { kitDamaged } from './kit-error.ts';

export interface ByteCursor {
  /** Exactly so many. @throws {KitError} `KitDamaged` where there are fewer; what the stream throws */
  take(count: number): Promise<Buffer>;
  /** Exactly so many, in pieces that are not copied. */
  pieces(count: number): AsyncGenerator<Buffer>;
  isAtEnd(): Promise<boolean>;
  /** Lets the stream go. */
  close(): void;
}

export function createByteCursor(bytes: Bytes): ByteCursor {
  const iterator = bytes[Symbol.asyncIterator]();
  let chunk: Buffer = Buffer.alloc(0);
  const fill = async (): Promise<boolean> => {
    while (chunk.length === 0) {
      const next = await iterator.next();
      if (next.done === true) return false;
      chunk = next.value;
    }
    return true;
  };
  async function* pieces(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (!(await fill())) throw kitDamaged('a delta is cut off');
      const piece = chunk.subarray(0, left);
      chunk = chunk.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
  return {
    pieces,
    take: async (count) => {
      const taken: Buffer[] = [];
      for await (const piece of pieces(count)) taken.push(piece);
      return Buffer.concat(taken);
    },
    isAtEnd: async () => !(await fill()),
    close: () => letGo(iterator),
  };
}
