// The form of a mirrored bundle, pure: an OCI image of one layer and no base, which registries, `oras`, image volumes and
// Flux read. Owns media types and annotations. Refuses a manifest of another kind, or of another bundle. Invariant: the
// same bundle, version and layer give the same bytes.

import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { readJson } from '#platform/wire/json-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Descriptor } from './carrier.ts';
import type { MirrorError } from './mirror-error.ts';

export const bundleArtifactType = 'application/vnd.staticexport.bundle.v1';
export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const configType = 'application/vnd.oci.image.config.v1+json';

/** Flux and Argo CD unpack gzip only. */
export type Compression = 'Zstd' | 'Gzip';

const layerTypes: Readonly<Record<Compression, string>> = {
  Zstd: 'application/vnd.oci.image.layer.v1.tar+zstd',
  Gzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
};

/** A manifest of this project has a thousand bytes. A longer one is not parsed: a byte of JSON becomes many in memory. */
export const maxManifestBytes = 64 * 1024;

const digestAnnotation = 'dev.staticexport.bundle.digest';
const versionAnnotation = 'org.opencontainers.image.version';

/** What a mirrored bundle is, as its manifest says. */
export interface BundleImage {
  /** Of the manifest: `sha256:` and 64 hex digits. */
  readonly manifestDigest: string;
  /** Content digest, 64 hex digits: also the image's tag. */
  readonly digest: string;
  /** The version that first had this content; later ones share the copy. */
  readonly version: string | undefined;
  readonly config: Descriptor;
  readonly layer: Descriptor;
}

/** The parts of a new image, to be written in this order: layer, config, manifest. */
export interface NewImage {
  readonly image: BundleImage;
  readonly configBytes: Buffer;
  readonly manifestBytes: Buffer;
}

export interface Layer {
  readonly descriptor: Descriptor;
  /** Digest of the tar before its compression. */
  readonly diffId: string;
}

export const layerTypeOf = (compression: Compression): string => layerTypes[compression];

/** OCI's form of a SHA-256. */
export const digestOfBytes = (bytes: Uint8Array): string => `sha256:${hash('sha256', bytes, 'hex')}`;

/**
 * OCI image specification, "Image Manifest" and "Image Configuration".
 *
 * @param digest of the content
 */
export function formatImage(digest: string, version: string | undefined, layer: Layer): NewImage {
  // The format requires a platform, and a site has none. Runtimes compare it with their own only where an index offers
  // several images. So there is no index: one image, named by its digest, is mounted on nodes of every architecture.
  const configBytes = jsonBytes({
    architecture: 'amd64',
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [layer.diffId] },
  });
  const config = { mediaType: configType, digest: digestOfBytes(configBytes), size: configBytes.length };
  const manifestBytes = jsonBytes({
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: bundleArtifactType,
    config,
    layers: [layer.descriptor],
    annotations: {
      [digestAnnotation]: digest,
      ...(version === undefined ? {} : { [versionAnnotation]: version }),
    },
  });
  const manifestDigest = digestOfBytes(manifestBytes);
  const image = { manifestDigest, digest, version, config, layer: layer.descriptor };
  return { image, configBytes, manifestBytes };
}

const sizeShape = z.int().check(z.nonnegative());
const digestShape = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/));
const manifestShape = z.object({
  artifactType: z.literal(bundleArtifactType),
  config: z.object({ mediaType: z.literal(configType), digest: digestShape, size: sizeShape }),
  layers: z.tuple([
    z.object({ mediaType: z.enum(Object.values(layerTypes)), digest: digestShape, size: sizeShape }),
  ]),
  annotations: z.object({
    [digestAnnotation]: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    [versionAnnotation]: z.optional(z.string().check(z.maxLength(63))),
  }),
});

/**
 * @param name of the carrier, for the message
 * @param digest of the wanted content; `undefined` accepts any bundle
 * @throws {MirrorError} `NotABundle`
 */
export function parseImage(manifest: Buffer, name: string, digest?: string): BundleImage {
  const isShort = manifest.length <= maxManifestBytes;
  const parsed = manifestShape.safeParse(isShort ? readJson(manifest.toString('utf8')) : undefined);
  if (!parsed.success) throw notABundle(name, 'is not a bundle of this project');
  const { config, layers, annotations } = parsed.data;
  const found = annotations[digestAnnotation];
  if (digest !== undefined && found !== digest) throw notABundle(name, 'is a bundle with other content');
  return {
    manifestDigest: digestOfBytes(manifest),
    digest: found,
    version: annotations[versionAnnotation],
    config,
    layer: layers[0],
  };
}

const notABundle = (name: string, what: string): MirrorError =>
  new PublishableError(
    'NotABundle',
    `The image in ${name} ${what}. Remove its tag, or use another repository.`,
  );

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
