// Keeps bodies on disk while a crawl runs, one file per content, named by its hash. Memory holds only a piece of each
// body that is being read, whatever its size. Owns the directory's files, and the limit on their sum. Refuses to return
// other bytes than were stored, and to take more than the limit, even in the middle of a body.

import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../runtime/folder.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CrawlError, tooManyBytes } from './crawl-error.ts';

export interface StoredBody {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface TakenBody extends StoredBody {
  /** Where it is small enough to be in memory as well. */
  readonly bytes: Uint8Array | undefined;
}

export interface Spool {
  /** @throws {CrawlError} SpoolFailed, TooManyBytes; what the chunks throw. Nothing of the body stays or counts then */
  take(chunks: AsyncIterable<Uint8Array>): Promise<TakenBody>;
  /** Stores a file that the crawler made: it does not count. @throws {CrawlError} SpoolFailed */
  put(bytes: Uint8Array): Promise<StoredBody>;
  /** At once, so that of several large bodies one at a time is in memory. @throws {CrawlError} SpoolFailed */
  head(body: StoredBody, maxBytes: number): Uint8Array;
  /** In pieces. @throws {CrawlError} SpoolFailed, at the end for bytes that are not the ones put in */
  read(body: StoredBody): AsyncIterable<Uint8Array>;
}

/** What most pages are smaller than is written at once. Beyond it a body goes to the disk as it comes. */
const heldBytes = 1024 * 1024;
const pieceBytes = 256 * 1024;

/**
 * @param directory created if absent; removed by the caller
 * @param maxBytes of all bodies, each as often as it was taken
 */
export function createSpool(directory: string, maxBytes = Number.POSITIVE_INFINITY): Spool {
  /** Two answers with the same bytes write the file once, and both wait for it. */
  const writes = new Map<string, Promise<void>>();
  let takenBytes = 0;
  let partials = 0;

  const write = async (sha256: string, bytes: Uint8Array): Promise<void> => {
    await makeFolder(directory);
    await writeFile(join(directory, sha256), bytes, { mode: 0o600 });
  };
  const keep = async (bytes: Uint8Array, sha256: string): Promise<StoredBody> => {
    const written = writes.get(sha256) ?? write(sha256, bytes);
    writes.set(sha256, written);
    await orTakingFailed(written);
    return { sizeBytes: bytes.byteLength, sha256 };
  };
  const count = (sizeBytes: number): void => {
    takenBytes += sizeBytes;
    if (takenBytes > maxBytes) throw tooManyBytes(maxBytes);
  };

  return {
    put: (bytes) => keep(bytes, createHash('sha256').update(bytes).digest('hex')),
    take: async (chunks) => {
      const hash = createHash('sha256');
      const held: Uint8Array[] = [];
      partials += 1;
      const partial = join(directory, `${partials}.partial`);
      let file: FileHandle | undefined;
      let sizeBytes = 0;
      try {
        for await (const chunk of chunks) {
          sizeBytes += chunk.byteLength;
          count(chunk.byteLength);
          hash.update(chunk);
          held.push(chunk);
          if (sizeBytes <= heldBytes) continue;
          file ??= await orTakingFailed(create(directory, partial));
          await orTakingFailed(writeAll(file, held.splice(0)));
        }
        if (file === undefined) {
          const bytes = Buffer.concat(held, sizeBytes);
          return { ...(await keep(bytes, hash.digest('hex'))), bytes };
        }
        await file.close();
        file = undefined;
        const sha256 = hash.digest('hex');
        await orTakingFailed(rename(partial, join(directory, sha256)));
        return { sizeBytes, sha256, bytes: undefined };
      } catch (error) {
        takenBytes -= sizeBytes;
        await file?.close();
        await rm(partial, { force: true });
        throw error;
      }
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
        throw spoolFailed('give back a file of the site', cause);
      }
    },
    read: async function* ({ sha256, sizeBytes }) {
      const hash = createHash('sha256');
      const path = join(directory, sha256);
      try {
        // A stream for each of ten thousand small files would take as long as everything else that packs them.
        const chunks =
          sizeBytes <= heldBytes
            ? [await readFile(path)]
            : createReadStream(path, { highWaterMark: pieceBytes });
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      } catch (cause) {
        throw spoolFailed('give back a file of the site', cause);
      }
      if (hash.digest('hex') !== sha256) {
        throw spoolFailed('give back a file of the site unchanged', undefined);
      }
    },
  };
}

async function create(directory: string, path: string): Promise<FileHandle> {
  await makeFolder(directory);
  return open(path, 'w', 0o600);
}

async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  for (const chunk of chunks) {
    for (let offset = 0; offset < chunk.byteLength; ) {
      offset += (await file.write(chunk, offset)).bytesWritten;
    }
  }
}

function orTakingFailed<T>(work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    throw spoolFailed('take a file of the site', cause);
  });
}

function spoolFailed(what: string, cause: unknown): CrawlError {
  const code = cause === undefined ? '' : ` (${publishableCode(cause)})`;
  return new CrawlError(
    'SpoolFailed',
    `the data directory did not ${what}${code}: check its space and rights`,
    {
      cause,
    },
  );
}
