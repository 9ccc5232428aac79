// The OCI image layout inside a kit, pure: its two files, manifests of what is not an image of ours, and the blobs that one
// manifest needs. Refuses manifests of another shape. Invariant: the same parts give the same bytes.

import * as z from 'zod';
import { readJson } from '#platform/wire/json-text.ts';
import type { Descriptor } from '../carrier.ts';
import { digestOfBytes, manifestType } from '../image.ts';
import { kitDamaged } from './kit-error.ts';

/** OCI image specification, "oci-layout file". */
export const layoutBytes: Buffer = Buffer.from('{"imageLayoutVersion":"1.0.0"}');
const indexType = 'application/vnd.oci.image.index.v1+json';
const refAnnotation = 'org.opencontainers.image.ref.name';
const titleAnnotation = 'org.opencontainers.image.title';
const emptyConfig = { mediaType: 'application/vnd.oci.empty.v1+json', bytes: Buffer.from('{}') };

/** One entry of `index.json`, with what its source said about it, such as a platform. */
export interface IndexEntry extends Descriptor {
  readonly annotations?: Readonly<Record<string, string>>;
}

/** @param reference by which programs find it, such as a tag */
export const indexEntry = (descriptor: Descriptor, reference: string): IndexEntry => ({
  ...descriptor,
  annotations: { [refAnnotation]: reference },
});

export const formatKitIndex = (manifests: readonly IndexEntry[]): Buffer =>
  jsonBytes({ schemaVersion: 2, mediaType: indexType, manifests });

export interface NewArtifact {
  readonly manifest: Descriptor;
  readonly manifestBytes: Buffer;
  readonly configBytes: Buffer;
  readonly config: Descriptor;
}

export interface ArtifactOptions {
  /** Absent where the config says what it is. */
  readonly artifactType?: string;
  readonly config?: { readonly mediaType: string; readonly bytes: Buffer };
  readonly layer: Descriptor;
  /** File name that programs such as oras give to the layer. */
  readonly title?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** OCI image specification, "Guidelines for Artifact Usage". */
export function formatArtifact(options: ArtifactOptions): NewArtifact {
  const { artifactType, layer, title, annotations, config: configOf = emptyConfig } = options;
  const { mediaType, bytes: configBytes } = configOf;
  const config = { mediaType, digest: digestOfBytes(configBytes), size: configBytes.length };
  const manifestBytes = jsonBytes({
    schemaVersion: 2,
    mediaType: manifestType,
    ...(artifactType !== undefined && { artifactType }),
    config,
    layers: [title === undefined ? layer : { ...layer, annotations: { [titleAnnotation]: title } }],
    ...(annotations !== undefined && { annotations }),
  });
  const manifest = {
    mediaType: manifestType,
    digest: digestOfBytes(manifestBytes),
    size: manifestBytes.length,
  };
  return { manifest, manifestBytes, configBytes, config };
}

const descriptorShape = z.object({
  mediaType: z.string().min(1).max(255),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.int().nonnegative(),
});
const indexShape = z.object({ manifests: z.array(z.looseObject(descriptorShape.shape)).max(1000) });
const manifestShape = z.object({ config: descriptorShape, layers: z.array(descriptorShape).max(1000) });

/** The entries of an `index.json`, or of a manifest that lists others. @returns `undefined` for another shape */
export function parseKitIndex(bytes: Buffer): readonly IndexEntry[] | undefined {
  return indexShape.safeParse(readJson(bytes.toString('utf8'))).data?.manifests;
}

/** @throws {KitError} `KitDamaged` unless it has one layer of that type */
export function parseLayer(manifest: Buffer | undefined, mediaType?: string): Descriptor {
  const { data } = manifestShape.safeParse(readJson(manifest?.toString('utf8')));
  const [layer, ...others] = data?.layers ?? [];
  const isOther = mediaType !== undefined && layer?.mediaType !== mediaType;
  if (layer === undefined || others.length > 0 || isOther) throw kitDamaged('a manifest has another form');
  return layer;
}

/** The manifests that lead to an image, and all that it needs. */
export interface ImageBlobs {
  readonly blobs: readonly Descriptor[];
  /** Of what the source does not hold. */
  readonly missing: readonly string[];
}

const mostManifests = 1000;

/**
 * What a manifest needs, itself included, each once. Signatures and SBOMs that refer to it are not followed.
 *
 * @param read gives a manifest; `undefined` if it is absent or too large
 */
export async function findImageBlobs(
  root: Descriptor,
  read: (manifest: Descriptor) => Promise<Buffer | undefined>,
  has: (blob: Descriptor) => boolean,
): Promise<ImageBlobs> {
  const blobs = new Map<string, Descriptor>();
  const missing = new Set<string>();
  const queue: Descriptor[] = [root];
  for (let at = 0; at < queue.length && at < mostManifests; at += 1) {
    const manifest = queue[at];
    if (manifest === undefined || blobs.has(manifest.digest)) continue;
    const bytes = await read(manifest);
    if (bytes === undefined) {
      missing.add(manifest.digest);
      continue;
    }
    blobs.set(manifest.digest, plain(manifest));
    const { data } = manifestShape.safeParse(readJson(bytes.toString('utf8')));
    for (const blob of data === undefined ? [] : [data.config, ...data.layers]) {
      if (has(blob)) blobs.set(blob.digest, plain(blob));
      else missing.add(blob.digest);
    }
    if (data === undefined) queue.push(...(parseKitIndex(bytes) ?? []));
  }
  if (queue.length > mostManifests) missing.add('more manifests than allowed');
  return { blobs: [...blobs.values()], missing: [...missing] };
}

const plain = ({ mediaType, digest, size }: Descriptor): Descriptor => ({ mediaType, digest, size });

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
