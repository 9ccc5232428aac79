// Writes an archive that is the same bytes for the same files, on any day and machine: entries sorted by path, times and
// owners zero, a gzip header without time and system. Invariant: the destination's name appears only when the whole
// archive is on the disk.

import { once } from 'node:events';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PassThrough, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { pack as createPack, type Pack } from 'tar-stream';
import { CliError } from '../cli-error.ts';
import {
  nameBeside,
  notWritten,
  type Placement,
  requireReplaceable,
  syncFolder,
} from '../output/destination.ts';

/** A file to pack. */
export interface PackedFile {
  readonly path: string;
  readonly size: number;
  read(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const compressions: readonly (readonly [suffix: string, create: () => Transform])[] = [
  ['.tar', () => new PassThrough()],
  ['.tar.gz', () => createGzip()],
  ['.tgz', () => createGzip()],
  ['.tar.zst', () => createZstdCompress()],
];

/** True if the name is one of an archive that this program writes. */
export function isArchiveName(path: string): boolean {
  return compressionOf(path) !== undefined;
}

/**
 * @throws {CliError} `UnknownArchiveName`, `DestinationExists`, `DestinationNotWritten`; the signal's reason
 */
export async function writeArchive(
  files: readonly PackedFile[],
  destination: string,
  placement: Placement,
  signal: AbortSignal,
): Promise<void> {
  const create = compressionOf(destination);
  if (create === undefined) {
    const message = 'an archive ends in .tar, .tar.gz, .tgz or .tar.zst';
    throw new CliError('usage', 'UnknownArchiveName', message);
  }
  const partial = nameBeside(destination, placement.owner, 'partial');
  try {
    await rm(partial, { force: true });
    await writeTo(partial, files, create(), signal);
    await requireReplaceable(destination, placement);
    await rename(partial, destination);
    await syncFolder(dirname(destination));
  } catch (error) {
    await rm(partial, { force: true });
    signal.throwIfAborted();
    throw notWritten('archive', error);
  }
}

function compressionOf(path: string): (() => Transform) | undefined {
  return compressions.findLast(([suffix]) => path.endsWith(suffix))?.[1];
}

async function writeTo(
  path: string,
  files: readonly PackedFile[],
  compression: Transform,
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    const tar = createPack();
    const filled = fillTar(tar, files, signal);
    // A failed read destroys the pack with its error, which the pipeline reports; awaited below all the same.
    filled.catch((error: unknown) => tar.destroy(error instanceof Error ? error : undefined));
    let isFirst = true;
    const write = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const chunk of chunks) {
        // zlib names the system it runs on; 255 is "unknown" (RFC 1952 §2.3).
        if (isFirst && chunk[0] === 0x1f && chunk[1] === 0x8b) chunk[9] = 255;
        isFirst = false;
        await handle.writeFile(chunk);
      }
    };
    await pipeline(tar, compression, write, { signal });
    await filled;
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function fillTar(tar: Pack, files: readonly PackedFile[], signal: AbortSignal): Promise<void> {
  for (const file of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    signal.throwIfAborted();
    await addEntry(tar, file, signal);
  }
  tar.finalize();
}

async function addEntry(
  tar: Pack,
  { path: name, size, read }: PackedFile,
  signal: AbortSignal,
): Promise<void> {
  const header = { name, size, mode: 0o644, mtime: new Date(0), uid: 0, gid: 0, uname: '', gname: '' };
  const { promise: packed, resolve, reject } = Promise.withResolvers<void>();
  const entry = tar.entry(header, (error) => (error ? reject(error) : resolve()));
  // Awaited below, but not where the file itself fails: then the pack is destroyed, with its entry.
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
