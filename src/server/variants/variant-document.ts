// The list of precompressed variants as it is stored with their pack. First line: format and SHA-256 of the rest; then
// JSON. It names the content and the pack's hash, so that a restart can trust the pack or make it again.
// Invariant: what is parsed is what was formatted; one changed byte anywhere returns `undefined`.

import * as z from 'zod/mini';
import { readSealed, sealText } from '#bundle/store/index-document.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { contentEncodings } from '../http/content-encoding.ts';

/** Changes with the levels of compression, so that older variants are made again. */
const format = 'static-export-variants/2 br5 gzip6';

const count = z.int().check(z.nonnegative());
const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const document = z.object({
  digest: hash,
  packBytes: count,
  packSha256: hash,
  /** True when the limit on disk was reached before the last file. */
  isPartial: z.boolean(),
  encodings: z.array(z.enum(contentEncodings)),
  /** ordinal, encoding, offset, size, fingerprint */
  variants: z.array(z.tuple([count, z.enum(contentEncodings), count, count, count])),
});

export type VariantDocument = z.infer<typeof document>;

export function formatVariants(variants: VariantDocument): string {
  return sealText(format, JSON.stringify(variants));
}

/** @param files of the bundle that the variants belong to */
export function parseVariants(text: string, digest: string, files: number): VariantDocument | undefined {
  const parsed = document.safeParse(readJson(readSealed(format, text)));
  if (!parsed.success || parsed.data.digest !== digest) return undefined;
  const { variants, packBytes } = parsed.data;
  const isInside = variants.every(
    ([ordinal, , offset, size]) => ordinal < files && size > 0 && offset + size <= packBytes,
  );
  return isInside ? parsed.data : undefined;
}
