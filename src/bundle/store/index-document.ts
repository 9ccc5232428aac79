// Writes the index of a stored bundle as text and reads it. First line: format and SHA-256 of the second; second: JSON.
// Invariant: the reader returns exactly what was written; if one byte changed, it returns `undefined`.

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { readJson } from '../../wire/json-text.ts';
import type { BundleFile, BundleIndex } from '../bundle-index.ts';
import { countPages, digestOf, sizeOf, sortFiles } from './digest.ts';
import { shownFiles } from './hidden-files.ts';

/** A program that changes this reads the former format too: a copy that it cannot read is removed, perhaps the last one. */
const format = 'static-export-index/2';

const count = z.int().check(z.nonnegative());
const hashPattern = /^[0-9a-f]{64}$/;
const hash = z.string().check(z.regex(hashPattern));
const document = z.object({
  digest: hash,
  pages: count,
  sizeBytes: count,
  packBytes: count,
  notes: z.array(z.object({ code: z.string(), count, example: z.string() })),
  /** path, offset, size, sha256; see {@link readRow} */
  files: z.array(z.unknown()),
});

export interface IndexDocument {
  readonly index: BundleIndex;
  /** Size of the pack: of its shown files, each content that has several names (hard links) once. */
  readonly packBytes: number;
}

/** The text to store next to the pack. */
export function formatIndex({ index, packBytes }: IndexDocument): string {
  const json = JSON.stringify({
    digest: index.digest,
    pages: index.pages,
    sizeBytes: index.sizeBytes,
    packBytes,
    notes: index.notes,
    files: index.files.map(({ path, offset, size, sha256 }) => [path, offset, size, sha256]),
  });
  return sealText(format, json);
}

/** @returns `undefined` for a text that is damaged, of another format, or not true of itself */
export function parseIndex(text: string): IndexDocument | undefined {
  const parsed = document.safeParse(readJson(readSealed(format, text)));
  if (!parsed.success) return undefined;
  const { packBytes, files: rows, ...summary } = parsed.data;
  const files = rows.flatMap((row) => readRow(row) ?? []);
  if (files.length < rows.length) return undefined;
  const isSorted = sortFiles(files).every((file, at) => file === files[at]);
  const isInside = shownFiles(files).every(({ offset, size }) => offset + size <= packBytes);
  const isTrue =
    digestOf(files) === summary.digest &&
    countPages(files) === summary.pages &&
    sizeOf(files) === summary.sizeBytes;
  return isSorted && isInside && isTrue ? { index: { ...summary, files }, packBytes } : undefined;
}

/** By hand: through a schema, thousands of rows took longer than all the rest of the index. */
function readRow(row: unknown): BundleFile | undefined {
  if (!Array.isArray(row) || row.length !== 4) return undefined;
  const [path, offset, size, sha256]: readonly unknown[] = row;
  const isFile = typeof path === 'string' && typeof sha256 === 'string' && hashPattern.test(sha256);
  return isFile && isCount(offset) && isCount(size) ? { path, offset, size, sha256 } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** First line: format and SHA-256 of the second; second line: the JSON. */
export function sealText(format: string, json: string): string {
  return `${format} ${createHash('sha256').update(json).digest('hex')}\n${json}\n`;
}

/** @returns the JSON; `undefined` for another format, or where one byte changed */
export function readSealed(format: string, text: string): string | undefined {
  const [, json = ''] = text.split('\n', 2);
  return text === sealText(format, json) ? json : undefined;
}
