// Copies one checked bundle to a mirror, once: layer, config, manifest with the tag last, and then reads all of it back.
// Refuses to replace a tag. Invariant: a copy that was killed leaves blobs without a name at most, and the next one
// repeats nothing that is there.

import { join } from 'node:path';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { watch } from '#bundle/byte-stream.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import { createCountingSink } from '#bundle/store/pack.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Carrier, OpenBytes } from './carrier.ts';
import { type BundleImage, type Compression, formatImage, manifestType, type NewImage } from './image.ts';
import { spoolLayer } from './layer.ts';
import { findImage, readImage } from './mirrored-content.ts';

export interface CopiedBundle {
  /** Content digest. */
  readonly digest: string;
  readonly version: string | undefined;
  /** All files, hidden ones included, because the digest counts them. */
  readonly files: readonly ArchivedFile[];
}

export interface CopyOptions {
  readonly compression: Compression;
  /** A folder for spool files; they have no names for longer than a moment. */
  readonly workDir: string;
  readonly limits: BundleLimits;
  readonly onProgress?: () => void;
}

/**
 * @returns the image that holds the content now, read back
 * @throws {MirrorError} {PublishableError} {PublishableError} the signal's reason
 */
export async function copyBundle(
  bundle: CopiedBundle,
  carrier: Carrier,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<BundleImage> {
  const { digest, version, files } = bundle;
  const make = async (): Promise<CopiedImage> => {
    const layer = await spoolLayer(files, options.compression, join(options.workDir, 'layer'), signal);
    const parts = formatImage(digest, version, layer);
    return { ...parts, openLayer: layer.open, close: layer.close };
  };
  return copyImage(digest, make, carrier, options, signal);
}

/** An image whose layer lies on this machine. */
export interface CopiedImage extends NewImage {
  readonly openLayer: OpenBytes;
  close(): Promise<void>;
}

/**
 * @param digest of the content
 * @param make gives the image to write; not called where the carrier has a whole one
 * @returns as `copyBundle`
 * @throws as `copyBundle`, and what `make` throws
 */
export async function copyImage(
  digest: string,
  make: () => Promise<CopiedImage>,
  carrier: Carrier,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<BundleImage> {
  const known = await findImage(carrier, digest, digest, signal);
  if (known !== undefined && (await isWhole(known, carrier, options, signal))) return known;
  const image = await write(await make(), carrier, options, signal);
  await verifyCopy(image, carrier, options, signal);
  return image;
}

/** @returns `false` if a blob is missing, which the next write puts there again */
async function isWhole(
  image: BundleImage,
  carrier: Carrier,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await verifyCopy(image, carrier, options, signal);
    return true;
  } catch (error) {
    if (error instanceof PublishableError && error.code === 'BlobMissing') return false;
    throw error;
  }
}

/**
 * Reads a copy whole and compares its content digest.
 *
 * @throws {MirrorError} `BlobMissing`, `BlobDamaged` and others; {PublishableError} `DigestMismatch`
 */
export async function verifyCopy(
  image: BundleImage,
  carrier: Carrier,
  { workDir, limits, onProgress }: CopyOptions,
  signal: AbortSignal,
): Promise<void> {
  const pack = createCountingSink();
  const sink = { limits, pack, spoolPath: join(workDir, 'spool'), ...(onProgress && { onProgress }) };
  await readImage(carrier, image, sink, signal);
}

async function write(
  { image, configBytes, manifestBytes, openLayer, close }: CopiedImage,
  carrier: Carrier,
  { onProgress = () => {} }: Pick<CopyOptions, 'onProgress'>,
  signal: AbortSignal,
): Promise<BundleImage> {
  const { digest } = image;
  try {
    await carrier.writeBlob(image.layer, () => watch(openLayer(), onProgress), signal);
    await carrier.writeBlob(image.config, () => pieces(configBytes), signal);
    try {
      await carrier.writeManifest(digest, manifestType, manifestBytes, signal);
      return image;
    } catch (error) {
      // Another writer was faster. Its copy counts if it has the same content.
      const isOccupied = error instanceof PublishableError && error.code === 'TagOccupied';
      const other = isOccupied ? await findImage(carrier, digest, digest, signal) : undefined;
      if (other === undefined) throw error;
      return other;
    }
  } finally {
    await close();
  }
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
