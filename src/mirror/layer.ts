// The layer of a mirrored bundle: one deterministic tar, compressed, spooled to a file without a name, because registries
// and buckets take a blob in one request of known size. Invariant: the file's space is free when the layer is closed, or
// when the process ends.

import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type ArchivedFile, archiveBytes, compressTar } from '../bundle/archive/archive-writer.ts';
import { BundleError } from '../bundle/bundle-error.ts';
import { openNamelessFile } from '../bundle/store/nameless-file.ts';
import { storeFault, storeFullCode } from '../bundle/store/store-fault.ts';
import type { OpenBytes } from './carrier.ts';
import { type Compression, type Layer, layerTypeOf } from './image.ts';
import { MirrorError } from './mirror-error.ts';

export interface SpooledLayer extends Layer {
  readonly open: OpenBytes;
  close(): Promise<void>;
}

/**
 * @param path of the spool file, which has this name for a moment only
 * @throws {MirrorError} `SpoolFull`; {BundleError} `StoreUnavailable`; {PublishableError} `FileChanged`, `FileTooLarge`;
 *   the signal's reason
 */
export async function spoolLayer(
  files: readonly ArchivedFile[],
  compression: Compression,
  path: string,
  signal: AbortSignal,
): Promise<SpooledLayer> {
  const file = await openSpool(path);
  try {
    const diff = createHash('sha256');
    const tar = hashed(archiveBytes(files, 'tar', signal), diff);
    const { digest, size } = await write(
      file,
      compressTar(tar, compression === 'Zstd' ? 'tar.zst' : 'tar.gz'),
    );
    return {
      descriptor: { mediaType: layerTypeOf(compression), digest, size },
      diffId: `sha256:${diff.digest('hex')}`,
      open: () => readAll(file, size),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

const openSpool = (path: string): Promise<FileHandle> =>
  openNamelessFile(path).catch((error: unknown) => {
    throw spoolFault(error);
  });

async function write(
  file: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly digest: string; readonly size: number }> {
  const whole = createHash('sha256');
  let size = 0;
  for await (const chunk of bytes) {
    whole.update(chunk);
    size += chunk.length;
    await file.appendFile(chunk).catch((error: unknown) => {
      throw spoolFault(error);
    });
  }
  return { digest: `sha256:${whole.digest('hex')}`, size };
}

async function* hashed(source: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
}

const pieceBytes = 256 * 1024;

async function* readAll(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error('the spooled layer became shorter');
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

function spoolFault(error: unknown): unknown {
  const fault = error instanceof BundleError ? error : storeFault(error);
  if (fault.code !== storeFullCode) return fault;
  return new MirrorError(
    'SpoolFull',
    'The disk has no room for a compressed copy of the bundle. Give the work volume more. Retrying.',
    { isTemporary: true, cause: error },
  );
}
