// The pack: the bytes of all files, one after another, in one file. It is written synchronously in large blocks,
// because it has a thread of its own and a blocked write is the back-pressure. Refuses to overwrite a file.

import { closeSync, fsync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { type BundleFile, type BundleIndex, noBytes } from '../bundle-index.ts';
import { type FailedWrite, storeFault } from './store-fault.ts';

/** Where an assembly puts the bytes. */
export interface PackSink {
  /** Bytes appended so far. */
  readonly position: number;
  /** The chunk may be reused by the caller afterwards. @throws {PublishableError} `StoreFull`, `StoreUnavailable` */
  append(chunk: Uint8Array): void;
}

export interface PackWriter extends PackSink {
  /**
   * Removes the bytes that none of these files has, such as those of entries that a later one replaced.
   *
   * @param kept of the index
   * @returns the index of the pack as it is then
   */
  compact(index: BundleIndex, kept: readonly BundleFile[]): BundleIndex;
  /** Writes what is left, so that every byte can be read from the file. @throws as `append` */
  flush(): void;
  /** Writes what is left, syncs, closes. */
  commit(): Promise<void>;
  /** Writes what is left and closes, without a sync: for a pack that ends with its process. @throws as `append` */
  finish(): void;
  /** Closes without reporting an error. */
  abandon(): void;
}

const blockBytes = 1024 * 1024;
const sync = promisify(fsync);

/** A sink that only counts, for an inspection. */
export function createCountingSink(): PackSink {
  let position = 0;
  return {
    get position() {
      return position;
    },
    append: (chunk) => {
      position += chunk.length;
    },
  };
}

/** @throws {PublishableError} when the file exists or cannot be made */
export function createPackWriter(path: string): PackWriter {
  const fd = attempt(() => openSync(path, 'wx+', 0o644), { path, writtenBytes: 0 });
  const block = Buffer.allocUnsafeSlow(blockBytes);
  let filled = 0;
  let position = 0;
  let isOpen = true;

  const written = (): FailedWrite => ({ path, writtenBytes: position - filled });
  const flush = (): void => {
    writeAll(fd, block.subarray(0, filled), written());
    filled = 0;
  };
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(fd);
  };
  return {
    get position() {
      return position;
    },
    append: (chunk) => {
      if (filled + chunk.length > blockBytes) flush();
      if (chunk.length >= blockBytes) {
        writeAll(fd, chunk, written());
      } else {
        block.set(chunk, filled);
        filled += chunk.length;
      }
      position += chunk.length;
    },
    compact: (index, kept) => {
      const layout = planMoves(kept);
      if (layout.bytes === position) return index;
      flush();
      attempt(() => moveDown(fd, block, layout.moves, written()), written());
      position = layout.bytes;
      attempt(() => ftruncateSync(fd, position), written());
      return { ...index, files: index.files.map((file) => ({ ...file, offset: layout.of(file) })) };
    },
    flush,
    commit: async () => {
      flush();
      await sync(fd).catch((error: unknown) => {
        throw storeFault(error, written());
      });
      close();
    },
    finish: () => {
      flush();
      close();
    },
    abandon: close,
  };
}

interface Move {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

/** Where the files lie when they lie one after another, in the order in which they lie now. */
function planMoves(files: readonly BundleFile[]): {
  readonly bytes: number;
  readonly moves: readonly Move[];
  of(file: BundleFile): number;
} {
  const offsets = new Map<number, number>();
  const moves: Move[] = [];
  let bytes = 0;
  const held = files.filter(({ size }) => size > 0).toSorted((a, b) => a.offset - b.offset);
  for (const { offset: from, size } of held) {
    // Of one content under two names (a hard link) there is one copy.
    if (offsets.has(from)) continue;
    offsets.set(from, bytes);
    moves.push({ from, to: bytes, size });
    bytes += size;
  }
  return { bytes, moves, of: ({ offset, size }) => (size === 0 ? 0 : (offsets.get(offset) ?? noBytes)) };
}

/** Always towards the start and in order, so that nothing is written over before it was moved. */
function moveDown(fd: number, block: Buffer, moves: readonly Move[], written: FailedWrite): void {
  for (const { from, to, size } of moves.filter((one) => one.from !== one.to)) {
    for (let done = 0; done < size; ) {
      const count = readSync(fd, block, 0, Math.min(block.length, size - done), from + done);
      if (count === 0) throw new Error('the pack became shorter while it was compacted');
      writeAll(fd, block.subarray(0, count), written, to + done);
      done += count;
    }
  }
}

/** @param position where it is written to; at the end of what was written, by default */
function writeAll(fd: number, bytes: Uint8Array, written: FailedWrite, position?: number): void {
  for (let at = 0; at < bytes.length; ) {
    const to = position === undefined ? null : position + at;
    at += attempt(() => writeSync(fd, bytes, at, bytes.length - at, to), written);
  }
}

function attempt<T>(work: () => T, written: FailedWrite): T {
  try {
    return work();
  } catch (error) {
    throw storeFault(error, written);
  }
}
