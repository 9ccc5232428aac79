// The image as a layout of OCI: one index of both platforms, in one order, and the base that a build starts from. Pure.
// Refuses a base that another day could replace: a tag without a digest.

import { createHash } from 'node:crypto';
import { z } from 'zod';

const descriptorShape = z.looseObject({
  mediaType: z.string(),
  digest: z.string(),
  size: z.number(),
  platform: z.looseObject({ os: z.string(), architecture: z.string() }).optional(),
});
export const indexShape = z.looseObject({ schemaVersion: z.literal(2), manifests: z.array(descriptorShape) });
export type ImageIndex = z.infer<typeof indexShape>;

const indexType = 'application/vnd.oci.image.index.v1+json';
export const platforms = ['linux/amd64', 'linux/arm64'] as const;

export interface SortedIndex {
  readonly bytes: Buffer;
  readonly digest: string;
  /** The text of `index.json`, which names that index. */
  readonly top: string;
}

/**
 * The index of the platforms in one order, whatever the builder's.
 * @throws Error where a platform is missing
 */
export function sortIndex(index: ImageIndex, version: string): SortedIndex {
  const found = index.manifests.map((one) => ({ ...one, name: platformOf(one) }));
  const missing = platforms.filter((platform) => !found.some(({ name }) => name === platform));
  if (missing.length > 0) throw new Error(`The image has no ${missing.join(', ')}. Check its base.`);
  const manifests = [...index.manifests]
    .sort((one, other) => (platformOf(one) < platformOf(other) ? -1 : 1))
    .map(({ mediaType, digest, size, platform }) => ({ mediaType, digest, size, platform }));
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests }));
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const annotations = { 'org.opencontainers.image.ref.name': version };
  const entry = { mediaType: indexType, digest, size: bytes.length, annotations };
  const top = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [entry] });
  return { bytes, digest, top };
}

const platformOf = ({ platform }: ImageIndex['manifests'][number]): string =>
  platform === undefined ? '' : `${platform.os}/${platform.architecture}`;

/** A base by its reference in a registry, or a layout or archive of OCI on this machine. */
export type ImageBase =
  | { readonly kind: 'registry'; readonly reference: string; readonly digest: string | undefined }
  | { readonly kind: 'file'; readonly reference: string };

/**
 * @param text of `--base`, or of the Dockerfile's `ARG BASE`
 * @param mayBeTag `--allow-tag`
 * @returns a sentence where it is refused
 */
export function readBase(text: string, mayBeTag: boolean): ImageBase | string {
  if (/^oci(?:-archive)?:/.test(text)) return { kind: 'file', reference: text };
  const digest = /@(sha256:[0-9a-f]{64})$/.exec(text)?.[1];
  if (digest === undefined && !mayBeTag) {
    return `the base ${text} is a tag, which may change; name it by digest: --base REFERENCE@sha256:…`;
  }
  return { kind: 'registry', reference: text, digest };
}
