// The pages of a bundle: what a server answers as a page, each read as text in its own charset. Reads one page at a time, and only
// pages of up to 8 MiB. Refuses hidden files, error pages, and JSON under the name of a page.

import type { BundleFile, BundleIndex } from '#bundle/bundle-index.ts';
import { addressOfPage } from '#bundle/store/digest.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { decodeBody } from '../references/body-text.ts';

/** A page that is larger is not read. */
export const maxReadPageBytes: number = 8 * 1024 * 1024;

/** In the order of paths, one file for each address; `/a` of `a.html` and `/a/` of `a/index.html` are two. */
export function pageFiles(index: Pick<BundleIndex, 'files'>): readonly BundleFile[] {
  return pagesWhere(index, ({ size }) => size <= maxReadPageBytes);
}

/** Pages that are not read, in the same order. */
export function largePageFiles(index: Pick<BundleIndex, 'files'>): readonly BundleFile[] {
  return pagesWhere(index, ({ size }) => size > maxReadPageBytes);
}

function pagesWhere(
  { files }: Pick<BundleIndex, 'files'>,
  isWanted: (file: BundleFile) => boolean,
): readonly BundleFile[] {
  const pages = new Map<string, BundleFile>();
  for (const file of files) {
    if (addressOfPage(file) === undefined || isHiddenFile(file.path) || !isWanted(file)) continue;
    const address = file.path.replace(/\.html?$/i, '').replace(/(^|\/)index$/i, '$1');
    if (!pages.has(address)) pages.set(address, file);
  }
  return [...pages.values()];
}

/** @throws what reading the bundle throws */
export async function readPageSource(bundle: StoredBundle, file: BundleFile): Promise<string> {
  const bytes = Buffer.allocUnsafe(file.size);
  await bundle.readInto(file, bytes);
  return decodeBody(bytes, file.type ?? '', 'html');
}
