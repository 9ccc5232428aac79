// Keeps bodies on disk while a crawl runs, one file per content, named by its hash. Memory holds only a piece of each
// body that is being written or read, whatever its size. Owns the directory's files, and the limit on their sum. Refuses
// more than the limit, even in the middle of a body, and returning other bytes than were stored.

import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
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

/**
 * @param directory created if absent; removed by the caller
 * @param maxBytes of all bodies, each as often as it was taken
 */
export function createSpool(directory: string, maxBytes = Number.POSITIVE_INFINITY): CrawlSpool {
  let takenBytes = 0;
  let partials = 0;

  /** @param count called for each chunk before it is written; its error ends the body */
  const store = async (
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    count: (chunkBytes: number) => void,
  ): Promise<StoredBody> => {
    partials += 1;
    const partial = join(directory, `${partials}.partial`);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    await orTakingFailed(makeFolder(directory));
    const file = await orTakingFailed(open(partial, 'w', 0o600));
    try {
      for await (const chunk of chunks) {
        count(chunk.byteLength);
        sizeBytes += chunk.byteLength;
        hash.update(chunk);
        await orTakingFailed(file.writeFile(chunk));
      }
      const sha256 = hash.digest('hex');
      await orTakingFailed(rename(partial, join(directory, sha256)));
      return { sizeBytes, sha256 };
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  };

  return {
    put: (bytes) => store([bytes], () => {}),
    take: async (chunks) => {
      let countedBytes = 0;
      const count = (chunkBytes: number): void => {
        countedBytes += chunkBytes;
        takenBytes += chunkBytes;
        if (takenBytes > maxBytes) throw tooManyBytes(maxBytes);
      };
      return store(chunks, count).catch((error: unknown) => {
        takenBytes -= countedBytes;
        throw error;
      });
    },
    head: ({ sha256, sizeBytes }, most) => {
      const bytes = Buffer.allocUnsafe(Math.min(sizeBytes, most));
      try {
        const file = openSync(join(directory, sha256), 'r');
        try {
          return bytes.subarray(0, readSync(file, bytes));
        } finally {
          closeSync(file);
        }
      } catch (cause) {
        throw spoolFailed('return', publishableCode(cause), cause);
      }
    },
    read: async function* ({ sha256, sizeBytes }) {
      const path = join(directory, sha256);
      const hash = createHash('sha256');
      try {
        const isSmall = sizeBytes <= smallBytes;
        const chunks = isSmall
          ? [await readFile(path)]
          : createReadStream(path, { highWaterMark: pieceBytes });
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      } catch (cause) {
        throw spoolFailed('return', publishableCode(cause), cause);
      }
      if (hash.digest('hex') !== sha256) throw spoolFailed('return', 'its bytes changed');
    },
  };
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
