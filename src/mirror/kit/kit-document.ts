// `kit.json`: what a kit holds, and the SHA-256 and size of each entry behind it. Pure. Refuses a list that is longer than any
// kit needs, entries that are not an OCI image layout, and names that a file system or a terminal could misread. Invariant:
// the same content gives the same bytes.

import * as z from 'zod';
import { readJson } from '#platform/wire/json-text.ts';
import { isPrintable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type KitErrorCode, kitDamaged } from './kit-error.ts';

export const kitFormat = 1;
/** Of `kit.json`, before it is parsed. */
export const longestDocument = 4 * 1024 * 1024;
/** Eleven octal digits, the most that a header of a tar holds. */
export const largestEntry = 8 ** 11 - 1;
export const kitDocumentPath = 'kit.json';
export const signaturePath = 'kit.json.minisig';
export const layoutPath = 'oci-layout';
export const indexPath = 'index.json';
const blobStart = 'blobs/sha256/';

/** @param digest `sha256:` and 64 hex digits */
export const blobPath = (digest: string): string => `${blobStart}${digest.slice('sha256:'.length)}`;

const count = z.int().min(0);
const hexDigits = z.string().regex(/^[0-9a-f]{64}$/);
const ociDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const bundle = {
  digest: hexDigits,
  version: z.string().min(1).max(63).refine(isPrintable).optional(),
  pages: count,
  files: count,
  sizeBytes: count,
  manifest: ociDigest,
};
const bundleShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('whole'), ...bundle }),
  z.strictObject({ kind: z.literal('delta'), ...bundle, baseDigest: hexDigits }),
]);
/** A file name on every system. */
export const partNamePattern = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;
const partShape = z.strictObject({
  kind: z.enum(['image', 'chart', 'sbom']),
  name: z.string().regex(partNamePattern),
  manifest: ociDigest,
});
const fileShape = z.strictObject({
  path: z.union([
    z.literal(layoutPath),
    z.literal(indexPath),
    z.string().regex(/^blobs\/sha256\/[0-9a-f]{64}$/),
  ]),
  sha256: hexDigits,
  size: count.max(largestEntry),
});
export const seriesPattern = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;
export const largestSequence = Number.MAX_SAFE_INTEGER;
const documentShape = z.strictObject({
  format: z.literal(kitFormat),
  name: z.string().regex(seriesPattern),
  sequence: z.int().min(1).max(largestSequence),
  createdTime: z.iso.datetime(),
  bundles: z.array(bundleShape).max(100),
  parts: z.array(partShape).max(100),
  files: z.array(fileShape).max(20_000),
});

export type KitBundle = z.infer<typeof bundleShape>;
export type KitDelta = Extract<KitBundle, { kind: 'delta' }>;
export type KitPart = z.infer<typeof partShape>;
export type KitFile = z.infer<typeof fileShape>;
export type KitDocument = z.infer<typeof documentShape>;

export const formatDocument = (document: KitDocument): Buffer =>
  Buffer.from(`${JSON.stringify(document, undefined, 1)}\n`);

/** @throws {KitError} `KitDamaged`, `KitFormatUnknown` */
export function parseDocument(bytes: Buffer): KitDocument {
  const json = readJson(bytes.toString('utf8'));
  const format = z.object({ format: z.int().min(1) }).safeParse(json).data?.format;
  if (format !== undefined && format > kitFormat) {
    throw new PublishableError<KitErrorCode>(
      'KitFormatUnknown',
      `the kit has the format ${format}, and this program reads ${kitFormat}`,
      { kind: 'refused', remedy: 'Import it with the version of static-export that made it.' },
    );
  }
  const parsed = documentShape.safeParse(json);
  if (!parsed.success) throw kitDamaged('kit.json is not the list of a kit');
  const { data } = parsed;
  if (!isLayout(data.files)) throw kitDamaged('kit.json does not list an OCI image layout in its order');
  const listed = new Set(data.files.map(({ path }) => path));
  const named = [...data.bundles, ...data.parts].map(({ manifest }) => blobPath(manifest));
  if (!named.every((path) => listed.has(path)))
    throw kitDamaged('kit.json names a manifest that it does not list');
  return data;
}

/** The two files of a layout, then each blob once, sorted by name, which is its SHA-256. */
function isLayout([layout, index, ...blobs]: readonly KitFile[]): boolean {
  return (
    layout?.path === layoutPath &&
    index?.path === indexPath &&
    blobs.every(
      ({ path, sha256 }, at) =>
        path === `${blobStart}${sha256}` && (at === 0 || path > (blobs[at - 1]?.path ?? '')),
    )
  );
}
