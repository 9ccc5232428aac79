// Runs the zip parser over an open file, with every read held to the file's bounds. Why: positions come from the
// archive. A position beyond every file makes the parser's own reader throw in a callback, where no code can catch it.
// Reads are synchronous, through one window for the directory and one for the entries: the parser makes four reads a
// page, and asynchronous reads took longer than all other work. Use it only in a worker thread, like the pack.
// Invariant: a read outside the file is an error of the parser and never ends the process.

import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';

const chunkBytes = 256 * 1024;
const windowBytes = 256 * 1024;

interface Window {
  readonly bytes: Buffer;
  start: number;
  length: number;
}

const emptyWindow = (): Window => ({ bytes: Buffer.allocUnsafeSlow(windowBytes), start: 0, length: 0 });

class BoundedReader extends RandomAccessReader {
  readonly #fd: number;
  readonly #size: number;
  /** The one used last comes first. */
  #windows: readonly [Window, Window] = [emptyWindow(), emptyWindow()];

  constructor(fd: number, size: number) {
    super();
    this.#fd = fd;
    this.#size = size;
  }

  #isInside(start: number, end: number): boolean {
    return Number.isSafeInteger(start) && start >= 0 && start <= end && end <= this.#size;
  }

  /** Content is read by `chunksAt`: a stream of the platform's would close the file when it is destroyed. */
  override _readStreamForRange(): never {
    throw new Error('the zip is not read through streams of the parser');
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    let fault: Error | null = null;
    try {
      buffer.set(this.bytesAt(position, length), offset);
    } catch (error) {
      fault = error instanceof Error ? error : new Error('the zip cannot be read');
    }
    queueMicrotask(() => callback(fault));
  }

  /**
   * @returns a view that holds until the next read
   * @throws outside of the file, and what reading throws
   */
  bytesAt(position: number, length: number): Buffer {
    if (!this.#isInside(position, position + length)) throw new Error('a position outside of the zip');
    if (length > windowBytes) return this.#fill(Buffer.allocUnsafeSlow(length), position, length);
    const { bytes, start } = this.#windowOver(position, length);
    return bytes.subarray(position - start, position - start + length);
  }

  #windowOver(position: number, length: number): Window {
    const [recent, other] = this.#windows;
    const covers = ({ start, length: held }: Window): boolean =>
      position >= start && position + length <= start + held;
    if (covers(recent)) return recent;
    this.#windows = [other, recent];
    if (covers(other)) return other;
    other.length = 0;
    other.start = position;
    const wanted = Math.min(windowBytes, this.#size - position);
    this.#fill(other.bytes, position, wanted);
    other.length = wanted;
    return other;
  }

  #fill(bytes: Buffer, position: number, length: number): Buffer {
    for (let at = 0; at < length; ) {
      const count = readSync(this.#fd, bytes, at, length - at, position + at);
      if (count === 0) throw new Error('the zip became shorter while it was read');
      at += count;
    }
    return bytes;
  }

  /** The file is its opener's to close. */
  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }
}

export interface OpenZip {
  readonly parser: ZipFile;
  /** A view that holds until the next read of any kind. @throws outside of the file */
  readonly bytesAt: (position: number, length: number) => Buffer;
  /** The same in pieces, each of which stays. @throws outside of the file */
  readonly chunksAt: (position: number, length: number) => AsyncGenerator<Buffer>;
}

/**
 * @param file holds all of the zip; it stays open, and must until the last read
 * @throws the parser's errors, which have no codes
 */
export async function openZipFile(file: FileHandle): Promise<OpenZip> {
  const { size } = await file.stat();
  const reader = new BoundedReader(file.fd, size);
  const parser = await fromRandomAccessReaderPromise(reader, size, {
    autoClose: false,
    decodeStrings: false,
    validateEntrySizes: true,
  });
  const bytesAt = (position: number, length: number): Buffer => reader.bytesAt(position, length);
  async function* chunksAt(position: number, length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      const count = Math.min(chunkBytes, left);
      yield Buffer.from(bytesAt(position + length - left, count));
      left -= count;
    }
  }
  return { parser, bytesAt, chunksAt };
}
