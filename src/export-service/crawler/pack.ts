// Packs a crawled site into one archive: tar.gz, byte for byte the same for the same files, on any day and machine.
// Invariant: entries sorted by path, times and owners zero, a gzip header without time and system; the destination's
// name appears only when the whole archive is on the disk.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack as createPack, type Pack } from 'tar-stream';
import type { CrawledFile, CrawlResult } from './contract.ts';
import { partialFile } from './partial-file.ts';

export interface PackedSite {
  readonly sizeBytes: number;
  /** SHA-256 of the archive, lower-case hex. */
  readonly sha256: string;
}

/**
 * Writes the archive under a temporary name next to `destination`, syncs it, renames it into place.
 * @param destination file path; its folder must exist and have one writer for this name
 * @throws the signal's reason when aborted; nothing is left behind then
 */
export async function packSite(
  result: Pick<CrawlResult, 'files'>,
  destination: string,
  signal: AbortSignal,
): Promise<PackedSite> {
  const partial = partialFile(destination);
  try {
    const packed = await writeArchive(result.files, partial, signal);
    await rename(partial, destination);
    await syncFolder(dirname(destination));
    return packed;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeArchive(
  files: readonly CrawledFile[],
  path: string,
  signal: AbortSignal,
): Promise<PackedSite> {
  const handle = await open(path, 'w', 0o600);
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const tar = createPack();
    const filled = fillTar(tar, files, signal);
    // A failed read destroys the pack with its error, which the pipeline reports; awaited below all the same.
    filled.catch((error: unknown) => tar.destroy(error instanceof Error ? error : undefined));
    await pipeline(
      tar,
      createGzip(),
      async (chunks: AsyncIterable<Uint8Array>) => {
        for await (const chunk of chunks) {
          // zlib names the system it runs on; 255 is "unknown" (RFC 1952 §2.3).
          if (sizeBytes === 0) chunk[9] = 255;
          hash.update(chunk);
          sizeBytes += chunk.byteLength;
          await handle.writeFile(chunk);
        }
      },
      { signal },
    );
    await filled;
    await handle.sync();
    return { sizeBytes, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

async function fillTar(tar: Pack, files: readonly CrawledFile[], signal: AbortSignal): Promise<void> {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const file of sorted) {
    signal.throwIfAborted();
    await addEntry(tar, file, signal);
  }
  tar.finalize();
}

async function addEntry(
  tar: Pack,
  { path: name, sizeBytes: size, read }: CrawledFile,
  signal: AbortSignal,
): Promise<void> {
  const header = { name, size, mode: 0o644, mtime: new Date(0), uid: 0, gid: 0 };
  const { promise: packed, resolve, reject } = Promise.withResolvers<void>();
  const entry = tar.entry({ ...header, uname: '', gname: '' }, (error) =>
    error ? reject(error) : resolve(),
  );
  // Awaited below, but not where the file itself fails: then the caller of the pack destroys it, entry included.
  packed.catch(() => {});
  entry.on('error', () => {});
  for await (const chunk of read()) {
    signal.throwIfAborted();
    if (!entry.write(chunk)) await Promise.race([once(entry, 'drain'), packed]);
  }
  // The types of the package take `end` for one that needs an argument.
  entry.end(undefined);
  await packed;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
