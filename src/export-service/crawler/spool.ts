// Keeps bodies on disk while a crawl runs, one file per content, named by its hash. Memory holds only a piece of each
// body that is being written, and at most a mebibyte of each that is read, whatever its size. Owns the directory's files, and the limit on their sum. Refuses
// more than the limit, even in the middle of a body, and returning other bytes than were stored.

import { createHash, type Hash, hash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '#platform/runtime/folder.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { type CrawlError, tooManyBytes } from './crawl-error.ts';

export interface StoredBody {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface CrawlSpool {
  /** @throws {CrawlError} SpoolFailed, TooManyBytes; what the chunks throw. Nothing of the body stays or counts then */
  take(chunks: AsyncIterable<Uint8Array>): Promise<StoredBody>;
  /**
   * Takes a body that is on the disk already, from this directory or from that of another crawl. It counts like one that arrived.
   * @returns false where its bytes are not there, or are not those of its hash: nothing counts then
   * @throws {CrawlError} SpoolFailed, TooManyBytes
   */
  takeAgain(body: StoredBody, from?: string): Promise<boolean>;
  /** Stores a file that the crawler made: it does not count. @throws {CrawlError} SpoolFailed */
  put(bytes: Uint8Array): Promise<StoredBody>;
  /** Read at once, so that only one of several large bodies is in memory. @throws {CrawlError} SpoolFailed */
  head(body: StoredBody, maxBytes: number): Uint8Array;
  /** In pieces. @throws {CrawlError} SpoolFailed, at the end for bytes that changed on the disk */
  read(body: StoredBody): AsyncIterable<Uint8Array>;
}

/** Files up to this size are read at once. A stream for each of ten thousand small files would double the time of packing. */
const smallBytes = 1024 * 1024;
const pieceBytes = 256 * 1024;
/** A shorter body is written at once when it is whole. */
const heldBytes = 256 * 1024;

/**
 * @param directory created if absent; removed by the caller
 * @param maxBytes of all bodies, each as often as it was taken
 */
export function createSpool(directory: string, maxBytes = Number.POSITIVE_INFINITY): CrawlSpool {
  let takenBytes = 0;
  let partials = 0;
  let folder: Promise<void> | undefined;
  /** One for each body that arrives at the same time. */
  const free: Buffer[] = [];

  const made = async (): Promise<void> => {
    folder ??= makeFolder(directory);
    await orTakingFailed(folder);
  };
  const nextPartial = (): string => {
    partials += 1;
    return join(directory, `${partials}.partial`);
  };

  /** @param count called for each chunk before it is written; its error ends the body */
  const store = async (
    chunks: AsyncIterable<Uint8Array>,
    count: (chunkBytes: number) => void,
  ): Promise<StoredBody> => {
    await made();
    const held = free.pop() ?? Buffer.allocUnsafe(heldBytes);
    let long: LongBody | undefined;
    let sizeBytes = 0;
    try {
      for await (const chunk of chunks) {
        count(chunk.byteLength);
        if (long === undefined && sizeBytes + chunk.byteLength <= heldBytes) {
          held.set(chunk, sizeBytes);
        } else {
          if (long === undefined) {
            long = await openLong(nextPartial());
            await append(long, held.subarray(0, sizeBytes));
          }
          await append(long, chunk);
        }
        sizeBytes += chunk.byteLength;
      }
      if (long === undefined) return storeWhole(directory, nextPartial(), held.subarray(0, sizeBytes));
      const sha256 = long.hashing.digest('hex');
      await orTakingFailed(rename(long.partial, join(directory, sha256)));
      return { sizeBytes, sha256 };
    } catch (error) {
      if (long !== undefined) await rm(long.partial, { force: true });
      throw error;
    } finally {
      free.push(held);
      await long?.file.close();
    }
  };

  const count = (bytes: number): void => {
    takenBytes += bytes;
    if (takenBytes > maxBytes) throw tooManyBytes(maxBytes);
  };

  /**
   * Gives the same bytes a second name, because no file is written to after it has its name.
   * @returns false where they are not there: a job of the same domain may have replaced that directory
   */
  const isShared = async (body: StoredBody, from: string): Promise<boolean> => {
    const [source, own] = [join(from, body.sha256), join(directory, body.sha256)];
    const code = await link(source, own).then(() => '', publishableCode);
    if (code === '' || (code === 'EEXIST' && (await isWhole(directory, body)))) return true;
    const partial = nextPartial();
    try {
      // Some file systems have no second names.
      await copyFile(source, partial);
      await rename(partial, own);
      return true;
    } catch (error) {
      await rm(partial, { force: true });
      if (publishableCode(error) === 'ENOENT') return false;
      throw error;
    }
  };

  return {
    put: async (bytes) => {
      await made();
      return storeWhole(directory, nextPartial(), bytes);
    },
    takeAgain: async (body, from = directory) => {
      if (!(await isWhole(from, body))) return false;
      if (from !== directory && !(await orTakingFailed(isShared(body, from)))) return false;
      count(body.sizeBytes);
      return true;
    },
    take: async (chunks) => {
      let countedBytes = 0;
      const countChunk = (chunkBytes: number): void => {
        countedBytes += chunkBytes;
        count(chunkBytes);
      };
      return store(chunks, countChunk).catch((error: unknown) => {
        takenBytes -= countedBytes;
        throw error;
      });
    },
    head: ({ sha256, sizeBytes }, most) => {
      try {
        return readStart(join(directory, sha256), Math.min(sizeBytes, most));
      } catch (cause) {
        throw spoolFailed('return', publishableCode(cause), cause);
      }
    },
    read: (body) => readChecked(directory, body),
  };
}

/** A body that is written as it arrives. */
interface LongBody {
  readonly partial: string;
  readonly file: FileHandle;
  readonly hashing: Hash;
}

async function openLong(partial: string): Promise<LongBody> {
  const file = await orTakingFailed(open(partial, 'w', 0o600));
  return { partial, file, hashing: createHash('sha256') };
}

async function append({ file, hashing }: LongBody, bytes: Uint8Array): Promise<void> {
  hashing.update(bytes);
  await orTakingFailed(file.writeFile(bytes));
}

/** At once: promises for each of ten thousand small files would cost more than their bytes. */
function storeWhole(directory: string, partial: string, bytes: Uint8Array): StoredBody {
  const sha256 = hash('sha256', bytes, 'hex');
  try {
    writeFileSync(partial, bytes, { mode: 0o600 });
    renameSync(partial, join(directory, sha256));
  } catch (cause) {
    rmSync(partial, { force: true });
    throw spoolFailed('store', publishableCode(cause), cause);
  }
  return { sizeBytes: bytes.byteLength, sha256 };
}

async function* readChecked(
  directory: string,
  { sha256, sizeBytes }: StoredBody,
): AsyncGenerator<Uint8Array> {
  const path = join(directory, sha256);
  const hashing = createHash('sha256');
  try {
    const isSmall = sizeBytes <= smallBytes;
    // One byte more shows that the file is longer.
    const chunks = isSmall
      ? [readStart(path, sizeBytes + 1)]
      : createReadStream(path, { highWaterMark: pieceBytes });
    for await (const chunk of chunks) {
      hashing.update(chunk);
      yield chunk;
    }
  } catch (cause) {
    throw spoolFailed('return', publishableCode(cause), cause);
  }
  if (hashing.digest('hex') !== sha256) throw spoolFailed('return', 'its bytes changed');
}

/** Reads no more than a body of this size has: what a power failure left may be longer than memory. */
async function isWhole(directory: string, body: StoredBody): Promise<boolean> {
  const { sha256, sizeBytes } = body;
  try {
    if (sizeBytes <= smallBytes) {
      const bytes = readStart(join(directory, sha256), sizeBytes + 1);
      return bytes.byteLength === sizeBytes && hash('sha256', bytes, 'hex') === sha256;
    }
    if ((await stat(join(directory, sha256))).size !== sizeBytes) return false;
    for await (const _ of readChecked(directory, body));
    return true;
  } catch {
    return false;
  }
}

/** At once, as {@link storeWhole}. */
function readStart(path: string, maxBytes: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(maxBytes);
  const file = openSync(path, 'r');
  try {
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

function orTakingFailed<T>(work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    throw spoolFailed('store', publishableCode(cause), cause);
  });
}

function spoolFailed(what: 'store' | 'return', why: string, cause?: unknown): CrawlError {
  return new PublishableError(
    'SpoolFailed',
    `the data folder did not ${what} a file of the site (${why}): check its space and permissions`,
    { cause },
  );
}
