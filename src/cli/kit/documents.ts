// What `-o json` and `-o yaml` print about kits: the fields of each kind, in addition to `apiVersion` and `kind`. Refuses use at
// run time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from '../context.ts';
import { archive, countSchema, digest, instantSchema, pages, pathSchema } from '../output/common-schemas.ts';

const kitBundle = {
  kind: z.enum(['whole', 'delta']),
  digest,
  version: z.string().max(63).describe('As the maker of the kit gave it.').optional(),
  pages,
  files: archive.files,
  sizeBytes: archive.sizeBytes,
  baseDigest: digest.describe('Digest of the bundle that a delta needs.').optional(),
};
const kitPart = {
  kind: z.enum(['image', 'chart', 'sbom']),
  name: z.string().describe('Name of its file.'),
};
const kitSeries = {
  name: z.string().describe('Series of kits.'),
  sequence: z.int().min(1).describe('Grows within a series.'),
};
const kit = {
  ...kitSeries,
  createdTime: instantSchema,
  keyId: z.string().describe('Id of the key that signed it, as minisign prints it.'),
  sizeBytes: countSchema.describe('Size of the kit in bytes, all parts together.'),
  bundles: z.array(z.strictObject(kitBundle)),
  parts: z.array(z.strictObject(kitPart)),
};
/** Of a kit with one bundle. */
const onlyBundle = { digest: digest.optional(), version: kitBundle.version, pages: pages.optional() };

export const kitDocuments = {
  CreatedKit: {
    ...kit,
    ...onlyBundle,
    paths: z.array(z.string()).describe('The kit, or its parts in order.'),
  },
  KitSummary: { ...kit, signatureChecked: z.literal(false) },
  KitVerdict: { valid: z.literal(true), ...kit },
  ImportedKit: {
    ...kitSeries,
    ...onlyBundle,
    bundles: z.array(
      z.strictObject({
        ...kitBundle,
        path: pathSchema.describe('Folder or store.').optional(),
        ref: z.string().describe('Reference in a registry or a bucket.').optional(),
      }),
    ),
    parts: z.array(z.strictObject({ ...kitPart, path: z.string() })),
  },
};

export type KitAnswer<K extends keyof typeof kitDocuments> = ResultOf<typeof kitDocuments, K>;
