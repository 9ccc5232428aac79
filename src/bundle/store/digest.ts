// Derives from a list of files: the digest that names the content, the pages, the size. Invariant: equal content has an
// equal digest, whatever the archive's kind, order, times or modes were.

import { createHash } from 'node:crypto';
import type { BundleFile } from '../bundle-index.ts';
import { isHiddenFile } from './hidden-files.ts';

/** Sorts by path in UTF-16 code units, the one order of files in an index. */
export function sortFiles(files: Iterable<BundleFile>): readonly BundleFile[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/**
 * SHA-256, lower-case hex, over one line for each file: its hash in hex, two spaces, its path in UTF-8, `\n`.
 * The hash has a fixed width and no path holds a control character or a backslash, so no two lists share a
 * text; and the text is what `sha256sum` prints, so a person can recompute it from an unpacked copy.
 *
 * @param files sorted by {@link sortFiles}
 */
export function digestOf(files: readonly Pick<BundleFile, 'path' | 'sha256'>[]): string {
  const hash = createHash('sha256');
  for (const { path, sha256 } of files) hash.update(`${sha256}  ${path}\n`);
  return hash.digest('hex');
}

/**
 * How many pages a visitor can open: HTML documents by their extensionless address, so `guide.html` and
 * `guide/index.html` are one page. A `404.html` (or `404/index.html`), at any depth, is not a page; nor is a hidden file, nor
 * one that holds JSON.
 *
 * @param serveDotfiles see `isHiddenFile`
 */
export function countPages(files: readonly PageFile[], serveDotfiles: readonly string[] = []): number {
  return countAddresses(files.filter((file) => !file.isData && !isHiddenFile(file.path, serveDotfiles)));
}

/** What decides whether a file is a page. */
export type PageFile = Pick<BundleFile, 'path' | 'isData'>;

/** The address of the page that a file is; `undefined` where it is none: see {@link countPages}. */
export function addressOfPage({ path, isData }: PageFile): string | undefined {
  return isData ? undefined : pageAddress(path);
}

/** The same, hidden files and JSON included: stored indexes have this count since the first version, and earlier ones check it. */
export function countAddresses(files: readonly Pick<BundleFile, 'path'>[]): number {
  return new Set(files.flatMap(({ path }) => pageAddress(path) ?? [])).size;
}

/** The extensionless address of an HTML document, by its name alone; `undefined` for another file, and for an error page. */
export function pageAddress(path: string): string | undefined {
  if (!/\.html?$/i.test(path)) return undefined;
  const address = path.replace(/\.html?$/i, '').replace(/(^|\/)index$/i, '');
  return /(^|\/)404$/.test(address) ? undefined : address;
}

/** Sum of the files' sizes. */
export function sizeOf(files: readonly Pick<BundleFile, 'size'>[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
