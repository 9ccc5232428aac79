// The list of made files as it is stored with their pack. First line: format and SHA-256 of the rest; then JSON. It names the
// bundle, the features, the program that made them, the base path of the lines and the pack's hash.
// Invariant: what is parsed is what was formatted; one changed byte anywhere returns `undefined`.

import * as z from 'zod/mini';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { readSealed, sealText } from '#bundle/store/index-document.ts';
import { version } from '#platform/runtime/version.ts';
import { readJson } from '#platform/wire/json-text.ts';
import {
  type AdditionRows,
  type ExtensionCounts,
  type MadeFeature,
  type MadeRow,
  madeFeatures,
} from '../content/additions.ts';
import type { MadeTask } from './made-task.ts';

/** Another program may make other files of the same pages. */
const format = `static-export-made/2 ${version}`;

const count = z.int().check(z.nonnegative());
const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const counts = { files: count, pages: count, sizeBytes: count };
const document = z.object({
  digest: hash,
  features: z.array(z.enum(madeFeatures)),
  basePath: z.string(),
  counts: z.object({
    search: z.object(counts),
    markdown: z.object({ ...counts, leftOutPages: count }),
  }),
  packBytes: count,
  packSha256: hash,
  lines: z.string(),
  /** ordinal, position of the line, where it is in `lines`, its size, SHA-256 of the page with it */
  pages: z.array(z.tuple([count, count, count, count, hash])),
  /** path, offset, size, SHA-256 */
  files: z.array(z.tuple([z.string(), count, count, hash])),
});

export interface MadeDocument {
  readonly rows: AdditionRows;
  readonly counts: ExtensionCounts;
  readonly packSha256: string;
}

type Named = Pick<MadeTask, 'digest' | 'features' | 'basePath'>;

export function formatMade(
  { digest, features, basePath }: Named,
  { rows, counts, packSha256 }: MadeDocument,
): string {
  const { pages, files, lines, packBytes } = rows;
  return sealText(
    format,
    JSON.stringify({
      ...{ digest, features, basePath, counts, packBytes, packSha256, lines },
      pages: pages.map(({ ordinal, at, lineAt, lineSize, sha256 }) => [
        ordinal,
        at,
        lineAt,
        lineSize,
        sha256,
      ]),
      files: files.map(({ path, offset, size, sha256 }) => [path, offset, size, sha256]),
    }),
  );
}

/** @returns `undefined` where it is not of this bundle, these features, this program and this base path */
export function parseMade(
  text: string,
  { digest, features, basePath }: Named,
  index: BundleIndex,
): MadeDocument | undefined {
  const found = readMade(text, digest, index);
  if (found === undefined || found.basePath !== basePath) return undefined;
  return found.features.join() === features.join() ? found.made : undefined;
}

/** Made files without the lines of pages. */
export interface MadeList {
  readonly features: readonly MadeFeature[];
  readonly rows: readonly MadeRow[];
}

/** Of any features and base path. @returns `undefined` where it is not of this bundle and this program */
export function parseMadeList(text: string, digest: string, index: BundleIndex): MadeList | undefined {
  const found = readMade(text, digest, index);
  return found && { features: found.features, rows: found.made.rows.files };
}

function readMade(text: string, digest: string, index: BundleIndex) {
  const parsed = document.safeParse(readJson(readSealed(format, text)));
  if (!parsed.success) return undefined;
  const { pages, files, lines, packBytes, packSha256, counts, ...rest } = parsed.data;
  if (rest.digest !== digest) return undefined;
  const isInside =
    pages.every(
      ([ordinal, at, lineAt, lineSize]) =>
        at <= (index.files[ordinal]?.size ?? -1) && lineAt + lineSize <= lines.length,
    ) && files.every(([, offset, size]) => offset + size <= packBytes);
  if (!isInside) return undefined;
  const rows = {
    pages: pages.map(([ordinal, at, lineAt, lineSize, sha256]) => ({
      ...{ ordinal, at, lineAt, lineSize, sha256 },
    })),
    files: files.map(([path, offset, size, sha256]) => ({ path, offset, size, sha256 })),
    lines,
    packBytes,
  };
  const made: MadeDocument = { rows, counts, packSha256 };
  return { made, features: rest.features, basePath: rest.basePath };
}
