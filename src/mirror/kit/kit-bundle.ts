// A bundle on its way into a kit, whole or as a delta, and out of it again. Owns which blobs it has there. Refuses a bundle
// whose content is not the one that the list names. Invariant: a whole bundle is the image that a mirror would hold, byte
// by byte, so that its reference is known before the import.

import { join } from 'node:path';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import { refusal } from '#bundle/refusal.ts';
import { createCountingSink, type PackSink } from '#bundle/store/pack.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { BlobReader } from '../carrier.ts';
import { type BundleImage, formatImage, manifestType, parseImage } from '../image.ts';
import { spoolLayer } from '../layer.ts';
import { readImage } from '../mirrored-content.ts';
import { spoolBytes } from '../spool.ts';
import { deltaArtifactType, deltaLayerType } from './delta.ts';
import { applyDelta } from './delta-reader.ts';
import { deltaBytes } from './delta-writer.ts';
import type { KitContents } from './kit-contents.ts';
import type { KitBundle, KitDelta } from './kit-document.ts';
import { kitDamaged } from './kit-error.ts';
import { formatArtifact, indexEntry, parseLayer } from './layout.ts';

export interface AddedBundle {
  /** With the bytes of its hidden files. */
  readonly bundle: StoredBundle;
  readonly files: readonly ArchivedFile[];
  readonly version: string | undefined;
}

/** Frees the disk that a blob takes. */
export type Release = () => Promise<void>;

/** @param path of a spool file, which has this name for a moment only. @throws as `spoolLayer` */
export async function addWhole(
  { bundle, files, version }: AddedBundle,
  contents: KitContents,
  path: string,
  signal: AbortSignal,
): Promise<Release> {
  const { digest } = bundle.index;
  const layer = await spoolLayer(files, 'Zstd', path, signal);
  const { image, configBytes, manifestBytes } = formatImage(digest, version, layer);
  contents.addBlob(layer.descriptor, layer.open);
  contents.addBytes(configBytes);
  contents.addBytes(manifestBytes);
  const manifest = { mediaType: manifestType, digest: image.manifestDigest, size: manifestBytes.length };
  contents.addBundle(
    { kind: 'whole', ...fieldsOf(bundle.index, version), manifest: manifest.digest },
    indexEntry(manifest, digest),
  );
  return layer.close;
}

export interface DeltaOptions {
  /** Of a spool file, which has this name for a moment only. */
  readonly path: string;
  /** Of the importers: a delta that they would refuse is refused here. */
  readonly limits: BundleLimits;
  /** Gets the bytes of files that were read so far. */
  readonly onProgress: (readBytes: number) => void;
}

/** @throws as `spoolBytes`, `deltaBytes`, `applyDelta` */
export async function addDelta(
  { bundle, version }: AddedBundle,
  base: StoredBundle,
  contents: KitContents,
  { path, limits, onProgress }: DeltaOptions,
  signal: AbortSignal,
): Promise<Release> {
  const { digest } = bundle.index;
  const baseDigest = base.index.digest;
  const spool = await spoolBytes(deltaBytes(bundle, base, onProgress, signal), path);
  try {
    await applyDelta(asBuffers(spool.open()), digest, base, { limits, pack: createCountingSink() });
  } catch (error) {
    await spool.close();
    throw error;
  }
  const layer = { mediaType: deltaLayerType, digest: spool.digest, size: spool.size };
  const { manifest, manifestBytes, configBytes } = formatArtifact({
    artifactType: deltaArtifactType,
    layer,
    annotations: {
      'dev.staticexport.bundle.digest': digest,
      'dev.staticexport.delta.base-digest': baseDigest,
    },
  });
  contents.addBlob(layer, spool.open);
  contents.addBytes(configBytes);
  contents.addBytes(manifestBytes);
  contents.addBundle(
    { kind: 'delta', ...fieldsOf(bundle.index, version), manifest: manifest.digest, baseDigest },
    indexEntry(manifest, `delta-${digest}`),
  );
  return spool.close;
}

async function* asBuffers(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, length } of bytes) yield Buffer.from(buffer, byteOffset, length);
}

function fieldsOf({ digest, pages, files, sizeBytes }: BundleIndex, version: string | undefined) {
  return { digest, ...(version !== undefined && { version }), pages, files: files.length, sizeBytes };
}

export interface BundleSink {
  readonly limits: BundleLimits;
  readonly pack: PackSink;
  /** For files that have no name for longer than a moment. */
  readonly workDir: string;
  readonly onProgress?: () => void;
}

/**
 * Reads a bundle out of a checked kit.
 *
 * @param base of a delta
 * @returns its index, with the digest that the list names
 * @throws {KitError} `KitDamaged`; {PublishableError} {MirrorError}; the signal's reason
 */
export async function readKitBundle(
  bundle: KitBundle,
  blobs: BlobReader,
  base: StoredBundle | undefined,
  { limits, pack, workDir, onProgress }: BundleSink,
  signal: AbortSignal,
): Promise<BundleIndex> {
  const progress = onProgress && { onProgress };
  const index =
    bundle.kind === 'whole'
      ? await readImage(
          blobs,
          await imageOf(bundle, blobs, signal),
          { limits, pack, spoolPath: join(workDir, 'spool'), ...progress },
          signal,
        )
      : await readDelta(bundle, blobs, base, { limits, pack, ...progress }, signal);
  if (index.digest !== bundle.digest) throw refusal('DigestMismatch');
  return index;
}

/** The image of a whole bundle. @throws {KitError} `KitDamaged`; {MirrorError} `NotABundle` */
export async function imageOf(
  { manifest, digest }: KitBundle,
  blobs: BlobReader,
  signal: AbortSignal,
): Promise<BundleImage> {
  const bytes = await blobs.readManifest(manifest, signal);
  if (bytes === undefined) throw kitDamaged('a manifest is missing or too large');
  return parseImage(bytes, blobs.name, digest);
}

async function readDelta(
  { manifest, digest }: KitDelta,
  blobs: BlobReader,
  base: StoredBundle | undefined,
  sink: Parameters<typeof applyDelta>[3],
  signal: AbortSignal,
): Promise<BundleIndex> {
  if (base === undefined) throw new Error('a delta is read without its base');
  const layer = parseLayer(await blobs.readManifest(manifest, signal), deltaLayerType);
  return applyDelta(blobs.readBlob(layer, signal), digest, base, sink);
}
