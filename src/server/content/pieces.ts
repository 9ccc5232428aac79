// Memory that large files are read into, a piece at a time: few pieces are read at once, and their memory is used again.
// Given up with each piece it would lie about until a collection, and then in parts that the process cannot give back.
// Refuses: memory that a connection may still send from.

import type { PackedBytes, StoredBundle } from '#bundle/store/stored-bundle.ts';

export interface Pieces {
  /**
   * Reads bytes `start` to `endExclusive` of the file, and hands them on.
   *
   * @param write calls `done` once the bytes are not needed any more; never, where that is not known
   */
  read(
    pack: StoredBundle,
    file: PackedBytes,
    range: { readonly start: number; readonly endExclusive: number },
    write: (piece: Buffer, done: () => void) => void,
  ): Promise<void>;
}

/** More than the threads that read. */
const mostAtOnce = 16;

/** @param pieceBytes no range is longer */
export function createPieces(pieceBytes: number): Pieces {
  const spares: Buffer[] = [];
  const waiting: (() => void)[] = [];
  let atOnce = 0;
  const begin = async (): Promise<void> => {
    if (atOnce >= mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else atOnce += 1;
  };
  const end = (): void => {
    const next = waiting.shift();
    if (next === undefined) atOnce -= 1;
    else next();
  };
  return {
    read: async (pack, { offset, size }, { start, endExclusive }, write) => {
      if (!(start >= 0 && endExclusive <= size && endExclusive - start <= pieceBytes)) {
        throw new RangeError(`bytes ${start}-${endExclusive} are not a piece of a file of ${size}`);
      }
      await begin();
      try {
        const memory = spares.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
        const piece = memory.subarray(0, endExclusive - start);
        await pack.readInto({ offset: offset + start, size: piece.length }, piece);
        write(piece, () => {
          if (spares.length < mostAtOnce) spares.push(memory);
        });
      } finally {
        end();
      }
    },
  };
}
