// The layer of a mirrored bundle: one deterministic tar, compressed, spooled to a file without a name. Invariant: the same
// files give the same layer and the same digest of its tar.

import { createHash, type Hash } from 'node:crypto';
import { type ArchivedFile, archiveBytes, compressTar } from '#bundle/archive/archive-writer.ts';
import type { OpenBytes } from './carrier.ts';
import { type Compression, type Layer, layerTypeOf } from './image.ts';
import { spoolBytes } from './spool.ts';

export interface SpooledLayer extends Layer {
  readonly open: OpenBytes;
  close(): Promise<void>;
}

/**
 * @param path of the spool file, which has this name for a moment only
 * @throws {MirrorError} `SpoolFull`; {PublishableError} `StoreUnavailable`; {PublishableError} `FileChanged`, `FileTooLarge`;
 *   the signal's reason
 */
export async function spoolLayer(
  files: readonly ArchivedFile[],
  compression: Compression,
  path: string,
  signal: AbortSignal,
): Promise<SpooledLayer> {
  const diff = createHash('sha256');
  const tar = hashed(archiveBytes(files, 'tar', signal), diff);
  const spool = await spoolBytes(compressTar(tar, compression === 'Zstd' ? 'tar.zst' : 'tar.gz'), path);
  const { digest, size, open, close } = spool;
  return {
    descriptor: { mediaType: layerTypeOf(compression), digest, size },
    diffId: `sha256:${diff.digest('hex')}`,
    open,
    close,
  };
}

async function* hashed(source: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
}
