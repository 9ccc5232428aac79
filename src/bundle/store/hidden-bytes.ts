// Overwrites the bytes of hidden files with zeros before a pack gets its name. Neither the volume nor another server's
// copy then holds them. Their rows stay in the index: the digest still names the whole archive. Invariant: a bundle
// with the blank mark next to its pack holds no hidden byte. Without the mark, no server gets a copy.

import { join } from 'node:path';
import type { BundleFile } from '../bundle-index.ts';
import { isHiddenFile } from './hidden-files.ts';
import type { ByteRange, StoreDisk } from './store-disk.ts';
import { blankMarkName, packName } from './store-layout.ts';

/** The files whose bytes are in the pack. */
export function shownFiles(files: readonly BundleFile[]): readonly BundleFile[] {
  return files.filter(({ path }) => !isHiddenFile(path));
}

/** Where hidden bytes lie. A hard link gives a hidden file a second name: where that one is shown, its bytes stay. */
export function hiddenRanges(files: readonly BundleFile[]): readonly ByteRange[] {
  const shown = new Set(
    shownFiles(files)
      .filter(({ size }) => size > 0)
      .map(({ offset }) => offset),
  );
  return files.filter(({ path, offset, size }) => size > 0 && isHiddenFile(path) && !shown.has(offset));
}

/**
 * Blanks the hidden bytes of the pack in a folder, syncs it, then sets the mark. A mark that a crash takes away costs
 * one more blanking.
 *
 * @throws what the disk throws; the mark is not set then
 */
export async function blankHiddenBytes(
  folder: string,
  files: readonly BundleFile[],
  disk: StoreDisk,
): Promise<void> {
  const ranges = hiddenRanges(files);
  if (ranges.length > 0) await disk.writeZeros(join(folder, packName), ranges);
  await disk.writeText(join(folder, blankMarkName), '');
}

export async function hasBlankMark(folder: string, disk: StoreDisk): Promise<boolean> {
  return (await disk.readText(join(folder, blankMarkName))) !== undefined;
}
