// Checks the index that another server sends before parsing it, and holds it to the limits. Why before: a short text of
// brackets and commas becomes hundreds of megabytes of objects. Invariant: a parsed index has the one form that indexes
// are written in, and no more rows than the limit on files.

import { type BundleFile, heldFiles, isHeld } from '../bundle-index.ts';
import type { BundleLimits } from '../limits.ts';
import { maxTypeEntries, maxTypeKinds } from '../site-types.ts';
import { notesOfContent } from '../store/content-notes.ts';
import { isHiddenFile } from '../store/hidden-files.ts';
import { type IndexDocument, parseIndex } from '../store/index-document.ts';

/** In addition to its name a row takes a hash, two numbers and punctuation. */
const rowBytes = 64 + 2 * 16 + 12;
/** What stands before the rows: digest, numbers, notes, and the runs of types. Two numbers and punctuation for each run. */
const maxHeadLength = 64 * 1024 + maxTypeKinds * 256 + maxTypeEntries * 12;
const rowsBegin = ',"files":[';
const afterName = /,\d{1,16},\d{1,16},"[0-9a-f]{64}"\]/y;

/** Longest text of an index that {@link readCopyIndex} may be given. */
export function maxIndexBytes({ maxMetadataBytes, maxFiles }: BundleLimits): number {
  return maxHeadLength + maxMetadataBytes + maxFiles * rowBytes;
}

/**
 * @param text as the other server sent it
 * @param serveDotfiles see `isHiddenFile`: a copy without the bytes of what is to be shown is refused
 * @returns `undefined` for an index that is damaged, of another digest, or beyond the limits
 */
export function readCopyIndex(
  text: string,
  digest: string,
  limits: BundleLimits,
  serveDotfiles: readonly string[] = [],
): IndexDocument | undefined {
  if (!isBounded(text, limits)) return undefined;
  const document = parseIndex(text);
  if (document === undefined || document.index.digest !== digest) return undefined;
  const { index, packBytes } = document;
  const isWithin =
    index.files.length > 0 &&
    packBytes <= limits.maxTotalBytes &&
    index.files.every(({ size }) => size <= limits.maxFileBytes) &&
    index.files.every((file) => isHeld(file) || isHiddenFile(file.path, serveDotfiles)) &&
    isFilled(index.files, packBytes);
  // No hash covers the notes: they describe an archive that this server never received.
  const notes = notesOfContent(index.files, { serveDotfiles });
  return isWithin ? { index: { ...index, notes }, packBytes } : undefined;
}

function isBounded(text: string, { maxFiles, maxPathBytes }: BundleLimits): boolean {
  // No string of the text holds this: its quotes would be escaped.
  const begin = text.indexOf(rowsBegin);
  if (begin < 0 || begin > maxHeadLength) return false;
  let at = begin + rowsBegin.length;
  for (let rows = 0; rows < maxFiles; rows += 1) {
    const end = rowEnd(text, at, maxPathBytes);
    if (end === undefined) return false;
    if (text[end] === ',') at = end + 1;
    else return text.slice(end, end + 4) === ']}\n';
  }
  return false;
}

/** Where the row that begins there ends, if it is one: a name, two numbers, a hash. */
function rowEnd(text: string, at: number, maxPathBytes: number): number | undefined {
  if (!text.startsWith('["', at)) return undefined;
  const longest = at + 2 + 2 * maxPathBytes;
  let quote = text.indexOf('"', at + 2);
  while (quote >= 0 && quote <= longest && text[quote - 1] === '\\') quote = text.indexOf('"', quote + 1);
  if (quote < 0 || quote > longest) return undefined;
  afterName.lastIndex = quote + 1;
  return afterName.test(text) ? afterName.lastIndex : undefined;
}

/** Whether the files that it holds fill the pack, one after another: then the stated size is no more than the index accounts for. */
function isFilled(files: readonly BundleFile[], packBytes: number): boolean {
  let end = 0;
  let last: BundleFile | undefined;
  const sorted = heldFiles(files)
    .filter(({ size }) => size > 0)
    .toSorted((a, b) => a.offset - b.offset);
  for (const file of sorted) {
    // Of one content under two names (a hard link) there is one copy.
    if (file.offset === last?.offset && file.size === last.size) continue;
    if (file.offset !== end) return false;
    end += file.size;
    last = file;
  }
  return end === packBytes;
}
