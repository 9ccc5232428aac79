// Makes the delta of one bundle against another, record by record in the order of paths. Holds one file and its earlier form
// at a time, and files above a limit are written whole, in pieces. Invariant: the same two bundles give the same bytes.

import zlib from 'node:zlib';
import type { BundleFile } from '#bundle/bundle-index.ts';
import { throughTransform } from '#bundle/byte-stream.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { endOfRecords, formatRecord, largestPatched, makePatch } from './delta.ts';
import { pairFiles } from './pairing.ts';

const pieceBytes = 1024 * 1024;

/**
 * @param bundle with the bytes of its hidden files
 * @param onProgress gets the bytes of files that were read so far
 */
export function deltaBytes(
  bundle: StoredBundle,
  base: StoredBundle,
  onProgress: (readBytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  return throughTransform(recordBytes(bundle, base, onProgress, signal), zlib.createZstdCompress());
}

async function* recordBytes(
  bundle: StoredBundle,
  base: StoredBundle,
  onProgress: (readBytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let readBytes = 0;
  for (const { file, base: earlier } of pairFiles(bundle.index.files, base.index.files)) {
    signal.throwIfAborted();
    const { path, size } = file;
    if (earlier?.sha256 === file.sha256) {
      yield formatRecord({ path, size, from: earlier.path });
    } else if (earlier !== undefined && size <= largestPatched && earlier.size <= largestPatched) {
      const patch = await makePatch(await readFile(bundle, file), await readFile(base, earlier));
      yield formatRecord({ path, size, from: earlier.path, patch: patch.length });
      yield patch;
    } else {
      yield formatRecord({ path, size });
      yield* filePieces(bundle, file);
    }
    readBytes += size;
    onProgress(readBytes);
  }
  yield endOfRecords;
}

/** A file that fits into memory. */
export async function readFile(bundle: StoredBundle, { offset, size }: BundleFile): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  await bundle.readInto({ offset, size }, bytes);
  return bytes;
}

/** A file of any size. */
export async function* filePieces(
  bundle: StoredBundle,
  { offset, size }: BundleFile,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += pieceBytes) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
    await bundle.readInto({ offset: offset + at, size: piece.length }, piece);
    yield piece;
  }
}
