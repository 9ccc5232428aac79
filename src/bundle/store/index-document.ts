// Writes the index of a stored bundle as text and reads it. First line: format and SHA-256 of the second; second: JSON.
// Invariant: the reader returns exactly what was written; if one byte changed, it returns `undefined`.

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { readJson } from '#platform/wire/json-text.ts';
import { type BundleFile, type BundleIndex, heldFiles, isHeld, noBytes } from '../bundle-index.ts';
import { createTypeJudge, maxTypeEntries } from '../site-types.ts';
import { countAddresses, countPages, digestOf, sizeOf, sortFiles } from './digest.ts';
import { hadNoBytes } from './hidden-files.ts';

/** A program that changes this reads the former format too: a copy that it cannot read is removed, perhaps the last one. */
const format = 'static-export-index/2';

/** What stands before the files is bounded by every reader. Of more, all count as pages after a restart. */
const mostData = 2000;

const count = z.int().check(z.nonnegative());
const hashPattern = /^[0-9a-f]{64}$/;
const hash = z.string().check(z.regex(hashPattern));
const document = z.object({
  digest: hash,
  /** Hidden files and JSON included: see `countAddresses`. */
  pages: count,
  sizeBytes: count,
  packBytes: count,
  /** A row without bytes has an offset behind the pack. Missing in indexes of earlier versions: see `hadNoBytes`. */
  marksNoBytes: z.optional(z.literal(true)),
  /** Rows of files with `isData`. Earlier versions read past it. */
  data: z.optional(z.array(count)),
  /** By type: runs of rows of files that have it, each as its first row and its length. Earlier versions read past it. */
  types: z.optional(z.record(z.string(), z.array(count))),
  notes: z.array(
    z.object({ code: z.string(), count, example: z.string(), paths: z.optional(z.array(z.string())) }),
  ),
  /** path, offset, size, sha256; see {@link readRow} */
  files: z.array(z.unknown()),
});

export interface IndexDocument {
  readonly index: BundleIndex;
  /** Size of the pack: of the files that it holds, each content that has several names (hard links) once. */
  readonly packBytes: number;
}

/** The text to store next to the pack. */
export function formatIndex({ index, packBytes }: IndexDocument): string {
  const data = index.files.flatMap((file, at) => (file.isData ? [at] : []));
  const json = JSON.stringify({
    digest: index.digest,
    pages: countAddresses(index.files),
    sizeBytes: index.sizeBytes,
    packBytes,
    marksNoBytes: true,
    ...(data.length > 0 && data.length <= mostData && { data }),
    ...typeRuns(index.files),
    notes: index.notes,
    files: index.files.map((file) => [
      file.path,
      isHeld(file) ? file.offset : packBytes,
      file.size,
      file.sha256,
    ]),
  });
  return sealText(format, json);
}

/** @returns `undefined` for a text that is damaged, of another format, or not true of itself */
export function parseIndex(text: string): IndexDocument | undefined {
  const parsed = document.safeParse(readJson(readSealed(format, text)));
  if (!parsed.success) return undefined;
  const { packBytes, marksNoBytes = false, data = [], types = {}, files: rows, ...summary } = parsed.data;
  const read = rows.flatMap((row) => readRow(row) ?? []);
  if (read.length < rows.length) return undefined;
  const isWithoutBytes = ({ path, offset, size }: BundleFile): boolean =>
    size > 0 && (marksNoBytes ? offset === packBytes : hadNoBytes(path));
  const dataRows = new Set(data);
  const typeOfRow = readTypeRuns(types, read);
  if (typeOfRow === undefined) return undefined;
  const files = read.map((file, at) => ({
    ...file,
    ...(isWithoutBytes(file) && { offset: noBytes }),
    ...(dataRows.has(at) && { isData: true as const }),
    ...typeOfRow.get(at),
  }));
  const isSorted = sortFiles(files).every((file, at) => file === files[at]);
  const isInside = heldFiles(files).every(({ offset, size }) => offset + size <= packBytes);
  const isTrue =
    digestOf(files) === summary.digest &&
    countAddresses(files) === summary.pages &&
    sizeOf(files) === summary.sizeBytes;
  const index = { ...summary, pages: countPages(files), files };
  return isSorted && isInside && isTrue ? { index, packBytes } : undefined;
}

/** Pages of a site follow one another, so that runs are few and the text stays short. */
function typeRuns(files: readonly BundleFile[]): { readonly types?: Readonly<Record<string, number[]>> } {
  const runs = new Map<string, number[]>();
  let last: string | undefined;
  for (const [at, { type }] of files.entries()) {
    const known = type === undefined ? undefined : runs.get(type);
    if (type !== undefined && known === undefined) runs.set(type, [at, 1]);
    else if (type === last) known?.push((known.pop() ?? 0) + 1);
    else known?.push(at, 1);
    last = type;
  }
  return runs.size === 0 ? {} : { types: Object.fromEntries(runs) };
}

/** By row. A type that this version does not send is passed over. @returns `undefined` for runs of another bundle */
function readTypeRuns(
  types: Readonly<Record<string, readonly number[]>>,
  files: readonly BundleFile[],
): ReadonlyMap<number, { readonly type: string }> | undefined {
  const typeOfRow = new Map<number, { readonly type: string }>();
  const judge = createTypeJudge();
  let rows = 0;
  for (const [type, runs] of Object.entries(types)) {
    for (let at = 0; at < runs.length; at += 2) {
      const [from = 0, length = 0] = [runs[at], runs[at + 1]];
      rows += length;
      if (length === 0 || rows > maxTypeEntries || from + length > files.length) return undefined;
      for (let row = from; row < from + length; row += 1) {
        const path = files[row]?.path;
        if (path !== undefined && judge(path, type)) typeOfRow.set(row, { type });
      }
    }
  }
  return typeOfRow;
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
