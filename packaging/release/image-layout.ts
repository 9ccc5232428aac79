// The image as a layout of OCI: one index of both platforms, in one order, of manifests whose layers are compressed with
// Zstandard, which is a quarter smaller than gzip. Pure. Refuses layers of another form than the builder's.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Platform, platforms } from '../base/base-lock.ts';

const descriptorShape = z.looseObject({
  mediaType: z.string(),
  digest: z.string(),
  size: z.number(),
  platform: z.looseObject({ os: z.string(), architecture: z.string() }).optional(),
});
export const indexShape = z.looseObject({ schemaVersion: z.literal(2), manifests: z.array(descriptorShape) });
export const manifestShape = z.looseObject({
  schemaVersion: z.literal(2),
  config: descriptorShape,
  layers: z.array(descriptorShape),
});
export type ImageManifest = z.infer<typeof manifestShape>;

const indexType = 'application/vnd.oci.image.index.v1+json';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const layerType = 'application/vnd.oci.image.layer.v1.tar';

/** Bytes under their sum. */
export interface StoredBlob {
  readonly digest: string;
  readonly size: number;
}
export interface JsonBlob extends StoredBlob {
  readonly bytes: Buffer;
}

function jsonBlob(value: unknown): JsonBlob {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return { bytes, digest, size: bytes.length };
}

/**
 * The same image with compressed layers.
 * @param compressed what became of each layer, by its digest
 * @throws Error where a layer is not a gzipped tar, or is missing
 */
export function withCompressedLayers(
  manifest: ImageManifest,
  compressed: ReadonlyMap<string, StoredBlob>,
): JsonBlob {
  const layers = manifest.layers.map(({ mediaType, digest }) => {
    const blob = compressed.get(digest);
    if (mediaType !== `${layerType}+gzip` || blob === undefined) {
      throw new Error(`The builder wrote a layer of type ${mediaType}. Check its version.`);
    }
    return { mediaType: `${layerType}+zstd`, digest: blob.digest, size: blob.size };
  });
  // What the builder notes there is the name of its own base, which is nowhere else.
  const { annotations: _, ...kept } = manifest;
  return jsonBlob({ ...kept, mediaType: manifestType, layers });
}

export interface SortedIndex extends JsonBlob {
  /** The text of `index.json`, which names that index. */
  readonly top: string;
}

/** The index of the platforms in one order. */
export function sortIndex(manifests: Readonly<Record<Platform, StoredBlob>>, version: string): SortedIndex {
  const entries = platforms.map((platform) => {
    const [os = '', architecture = ''] = platform.split('/');
    const { digest, size } = manifests[platform];
    return { mediaType: manifestType, digest, size, platform: { architecture, os } };
  });
  const index = jsonBlob({ schemaVersion: 2, mediaType: indexType, manifests: entries });
  const annotations = { 'org.opencontainers.image.ref.name': version };
  const entry = { mediaType: indexType, digest: index.digest, size: index.size, annotations };
  return { ...index, top: JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [entry] }) };
}
