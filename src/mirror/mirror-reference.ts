// The address of one mirrored bundle: `oci://host/repository@sha256:…` (digest of its manifest) or `s3://bucket/path` of
// its `bundles/<digest>.json`. Not secret, and safe to commit. Refuses credentials, queries and fragments in it.

import * as z from 'zod/mini';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export type MirrorReference =
  | { readonly kind: 'oci'; readonly repository: string; readonly manifestDigest: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string; readonly digest: string };

/** Host with an optional port, then the path of the OCI distribution specification. */
const repositoryPattern = /^[a-z0-9.-]+(?::\d{1,5})?(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)+$/;
const bucketPattern = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Characters that need no escape in a URL or a path; no empty, `.` or `..` segment. */
const prefixPattern =
  /^(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9!_.*'()-]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9!_.*'()-]+)*)?$/;
const longest = 512;

export const repositoryShape = z.string().check(z.maxLength(longest), z.regex(repositoryPattern));
export const bucketShape = z.string().check(z.regex(bucketPattern));
export const prefixShape = z.string().check(z.maxLength(longest), z.regex(prefixPattern));

/** @throws {MirrorError} `InvalidReference`, which quotes nothing */
export function parseReference(text: string): MirrorReference {
  const oci = /^oci:\/\/(.+)@(sha256:[0-9a-f]{64})$/.exec(text);
  if (oci !== null && repositoryShape.safeParse(oci[1]).success) {
    return { kind: 'oci', repository: oci[1] ?? '', manifestDigest: oci[2] ?? '' };
  }
  const s3 = /^s3:\/\/([^/]+)\/(?:(.+)\/)?bundles\/([0-9a-f]{64})\.json$/.exec(text);
  const prefix = s3?.[2] ?? '';
  if (s3 !== null && bucketShape.safeParse(s3[1]).success && prefixShape.safeParse(prefix).success) {
    return { kind: 's3', bucket: s3[1] ?? '', prefix, digest: s3[3] ?? '' };
  }
  throw new PublishableError(
    'InvalidReference',
    'The reference of the bundle is not valid. Write oci://HOST/REPOSITORY@sha256:DIGEST or s3://BUCKET/PREFIX/bundles/DIGEST.json.',
  );
}

/** Where the bundle lies with others: the repository, or the prefix of the bucket. */
export function addressOf(reference: MirrorReference): string {
  if (reference.kind === 'oci') return `oci://${reference.repository}`;
  return `s3://${[reference.bucket, ...(reference.prefix === '' ? [] : [reference.prefix])].join('/')}`;
}

export function formatReference(reference: MirrorReference): string {
  if (reference.kind === 'oci') return `oci://${reference.repository}@${reference.manifestDigest}`;
  const { bucket, prefix, digest } = reference;
  return `s3://${[bucket, ...(prefix === '' ? [] : [prefix]), 'bundles', digest].join('/')}.json`;
}

/** The reference of an image in a carrier. @param name of the carrier */
export function referenceTo(
  name: string,
  { manifestDigest, digest }: { readonly manifestDigest: string; readonly digest: string },
): string {
  return name.startsWith('oci:') ? `${name}@${manifestDigest}` : `${name}/bundles/${digest}.json`;
}
