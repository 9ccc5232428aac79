// The zip parser over an open file, with every read held to the file's bounds. Why: positions come from the archive,
// and one beyond all files makes the parser's own reader throw in a callback, where nobody can catch it.
// Invariant: a read outside of the file is an error of the parser, never of the process.

import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';

const streamBytes = 256 * 1024;

class BoundedReader extends RandomAccessReader {
  readonly #fd: number;
  readonly #size: number;

  constructor(fd: number, size: number) {
    super();
    this.#fd = fd;
    this.#size = size;
  }

  #isInside(start: number, end: number): boolean {
    return Number.isSafeInteger(start) && start >= 0 && start <= end && end <= this.#size;
  }

  /** Not a stream of the platform's: those close the file when they are destroyed. */
  override _readStreamForRange(start: number, end: number): Readable {
    let at = start;
    const take = (length: number, done: (error: Error | null, chunk?: Buffer) => void): void => {
      const chunk = Buffer.allocUnsafeSlow(length);
      this.read(chunk, 0, length, at, (error) => done(error, chunk));
    };
    return new Readable({
      highWaterMark: streamBytes,
      read() {
        const length = Math.min(streamBytes, end - at);
        if (length <= 0) {
          this.push(null);
          return;
        }
        take(length, (error, chunk) => {
          at += length;
          if (error === null) this.push(chunk);
          else this.destroy(error);
        });
      },
    });
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (this.#isInside(position, position + length))
      read(this.#fd, buffer, offset, length, position, callback);
    else queueMicrotask(() => callback(new Error('a position outside of the zip')));
  }

  /** The file is its opener's to close. */
  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }
}

/**
 * @param file holds all of the zip; it stays open, and must until the last read
 * @throws the parser's errors, which have no codes
 */
export async function openZipFile(file: FileHandle): Promise<ZipFile> {
  const { size } = await file.stat();
  const reader = new BoundedReader(file.fd, size);
  return fromRandomAccessReaderPromise(reader, size, {
    autoClose: false,
    decodeStrings: false,
    validateEntrySizes: true,
  });
}
