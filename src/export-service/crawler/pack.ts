// Packs a crawled site into one archive: tar.gz, byte for byte the same for the same files. Invariant: the destination's
// name appears only when the whole archive is on the disk.

import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { archiveBytes } from '#bundle/archive/archive-writer.ts';
import { syncFolder } from '#platform/runtime/folder.ts';
import type { CrawledFile, CrawlResult } from './contract.ts';
import { partialFile } from './contract.ts';

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
  const archived = files.map(({ path, sizeBytes: size, read }) => ({ path, size, read }));
  const handle = await open(path, 'w', 0o600);
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const chunk of archiveBytes(archived, 'tar.gz', signal)) {
      hash.update(chunk);
      sizeBytes += chunk.byteLength;
      await handle.writeFile(chunk);
    }
    await handle.sync();
    return { sizeBytes, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}
