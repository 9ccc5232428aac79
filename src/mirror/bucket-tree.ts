// The tree that a bucket holds for a mirror: where each object lies, and what the small ones say. Pure. Refuses tags and
// digests from which another path could be built.
//
//   PREFIX/oci-layout              PREFIX/blobs/sha256/HEX        PREFIX/bundles/TAG.json
//   PREFIX/removals/TAG.json       until the blobs of a removed tag are deleted
//   PREFIX/removal-lock.json       while a client deletes blobs

import * as z from 'zod/mini';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Descriptor } from './carrier.ts';
import type { MirrorError } from './mirror-error.ts';

/** A descriptor has three short fields. */
export const maxDescriptorBytes = 4096;
export const layoutText = '{"imageLayoutVersion":"1.0.0"}\n';

const tagForm = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digestForm = /^sha256:([0-9a-f]{64})$/;
const anyDigest = /sha256:[0-9a-f]{64}/g;

export interface BucketTree {
  /** `s3://BUCKET/PREFIX` */
  readonly name: string;
  readonly layoutKey: string;
  readonly bundlesPrefix: string;
  readonly removalsPrefix: string;
  readonly lockKey: string;
  /** @throws {MirrorError} `InvalidReference` */
  blobKey(digest: string): string;
  /** @throws {MirrorError} `InvalidReference` */
  bundleKey(tag: string): string;
  /** @throws {MirrorError} `InvalidReference` */
  removalKey(tag: string): string;
}

/** @param prefix of `readBucketReference`; empty for the whole bucket */
export function bucketTree(bucket: string, prefix: string): BucketTree {
  const root = prefix === '' ? '' : `${prefix}/`;
  const name = prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
  const bundlesPrefix = `${root}bundles/`;
  const removalsPrefix = `${root}removals/`;
  const tagged = (folder: string, tag: string): string => {
    if (!tagForm.test(tag)) throw invalidReference(name, 'a tag has letters, digits, ".", "_" and "-" only');
    return `${folder}${tag}.json`;
  };
  return {
    name,
    layoutKey: `${root}oci-layout`,
    bundlesPrefix,
    removalsPrefix,
    lockKey: `${root}removal-lock.json`,
    blobKey: (digest) => `${root}blobs/sha256/${hexOf(name, digest)}`,
    bundleKey: (tag) => tagged(bundlesPrefix, tag),
    removalKey: (tag) => tagged(removalsPrefix, tag),
  };
}

/** @throws {MirrorError} `InvalidReference` */
export function hexOf(name: string, digest: string): string {
  const hex = digestForm.exec(digest)?.[1];
  if (hex === undefined) throw invalidReference(name, 'a digest is sha256: and 64 hex digits');
  return hex;
}

const invalidReference = (name: string, rule: string): MirrorError =>
  new PublishableError('InvalidReference', `A reference to ${name} is not valid: ${rule}.`);

/** @returns `undefined` for a key of another form */
export function tagOfKey(key: string, folder: string): string | undefined {
  if (!key.startsWith(folder) || !key.endsWith('.json')) return undefined;
  const tag = key.slice(folder.length, -'.json'.length);
  return tagForm.test(tag) ? tag : undefined;
}

const descriptorSchema = z.object({
  mediaType: z.string().check(z.minLength(1), z.maxLength(255)),
  digest: z.string().check(z.regex(digestForm)),
  size: z.int().check(z.nonnegative()),
});

export function descriptorText({ mediaType, digest, size }: Descriptor): string {
  return `${JSON.stringify({ mediaType, digest, size })}\n`;
}

/** @returns `undefined` for text that is not a descriptor */
export function readDescriptorText(text: string): Descriptor | undefined {
  return readJson(descriptorSchema, text);
}

const manifestSchema = z.object({
  config: z.optional(descriptorSchema),
  layers: z.optional(z.array(descriptorSchema)),
});

/** The blobs that a manifest needs; none for a text that is not a manifest. */
export function blobsOfManifest(manifest: Buffer): readonly Descriptor[] {
  const { config, layers = [] } = readJson(manifestSchema, manifest.toString('utf8')) ?? {};
  return config === undefined ? layers : [config, ...layers];
}

/** Every digest that occurs anywhere in a manifest: rather one too many than a blob that is still needed. */
export function digestsIn(manifest: Buffer): ReadonlySet<string> {
  return new Set(manifest.toString('latin1').match(anyDigest) ?? []);
}

function readJson<T>(schema: z.ZodMiniType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
