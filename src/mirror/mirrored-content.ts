// Reads a mirrored bundle: its manifest, then its layer through the reader and the guard that every archive passes.
// Refuses content other than the wanted digest names. Invariant: the bytes are trusted by the content digest alone; the
// digests of manifest and layer only find damage earlier.

import { readArchive } from '#bundle/archive/archive-reader.ts';
import { createAssembly } from '#bundle/archive/assembly.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { watch } from '#bundle/byte-stream.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import { refusal } from '#bundle/refusal.ts';
import type { PackSink } from '#bundle/store/pack.ts';
import type { BlobReader } from './carrier.ts';
import { type BundleImage, parseImage } from './image.ts';

export interface ContentSink {
  readonly limits: BundleLimits;
  readonly pack: PackSink;
  /** See `isHiddenFile`. */
  readonly serveDotfiles?: readonly string[] | undefined;
  /** Of an archive that must be spooled. A layer of this project never is. */
  readonly spoolPath: string;
  readonly onProgress?: (receivedBytes: number, files: number) => void;
}

/**
 * @param digest of the content
 * @param reference of the manifest: its digest, or the tag, which is the content digest
 * @returns `undefined` if the carrier has no such bundle
 * @throws {MirrorError}
 */
export async function findImage(
  carrier: BlobReader,
  digest: string,
  reference: string,
  signal: AbortSignal,
): Promise<BundleImage | undefined> {
  const manifest = await carrier.readManifest(reference, signal);
  return manifest && parseImage(manifest, carrier.name, digest);
}

/**
 * @returns the index of what was read, with the image's content digest
 * @throws {MirrorError} {PublishableError} `DigestMismatch`, `ArchiveTooLarge` and what the reader throws
 */
export async function readImage(
  carrier: BlobReader,
  image: BundleImage,
  { limits, pack, serveDotfiles, spoolPath, onProgress }: ContentSink,
  signal: AbortSignal,
): Promise<BundleIndex> {
  if (image.layer.size > limits.maxArchiveBytes) throw refusal('ArchiveTooLarge');
  const assembly = createAssembly(limits, pack, { hasExactPaths: true, serveDotfiles });
  let receivedBytes = 0;
  const counted = watch(carrier.readBlob(image.layer, signal), (chunk) => {
    receivedBytes += chunk.length;
    onProgress?.(receivedBytes, assembly.files);
  });
  await readArchive(counted, assembly, limits, spoolPath);
  const index = assembly.finish();
  if (index.digest !== image.digest) throw refusal('DigestMismatch');
  return index;
}
