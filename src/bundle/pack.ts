// The pack: all files' bytes, one after another, in one file. Written in large blocks, synchronously, because
// it is written in a thread of its own and a blocked write is the back-pressure. Refuses: overwriting.

import { closeSync, fsync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { storeFault } from './store-fault.ts';

/** Where an assembly puts the bytes. */
export interface PackSink {
  /** Bytes appended so far. */
  readonly position: number;
  /** The chunk may be reused by the caller afterwards. @throws {BundleError} `StoreFull`, `StoreUnavailable` */
  append(chunk: Uint8Array): void;
}

export interface PackWriter extends PackSink {
  /** Writes what is left, syncs, closes. */
  commit(): Promise<void>;
  /** Closes without a word. */
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

/** @throws {BundleError} when the file exists or cannot be made */
export function createPackWriter(path: string): PackWriter {
  const fd = attempt(() => openSync(path, 'wx', 0o644));
  const block = Buffer.allocUnsafeSlow(blockBytes);
  let filled = 0;
  let position = 0;
  let isOpen = true;

  const flush = (): void => {
    writeAll(fd, block.subarray(0, filled));
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
        writeAll(fd, chunk);
      } else {
        block.set(chunk, filled);
        filled += chunk.length;
      }
      position += chunk.length;
    },
    commit: async () => {
      flush();
      await sync(fd).catch((error: unknown) => {
        throw storeFault(error);
      });
      close();
    },
    abandon: close,
  };
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    at += attempt(() => writeSync(fd, bytes, at, bytes.length - at));
  }
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeFault(error);
  }
}
