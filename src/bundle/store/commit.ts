// Turns a written pack and its index into a bundle of the store, by one rename of a synced folder. Invariant:
// `bundles/<digest>` is absent or whole. A whole copy that exists stays; a bad copy is set aside until
// the new one is there.

import { dirname, join } from 'node:path';
import { type BundleIndex, isHeld } from '../bundle-index.ts';
import { removeCopy, setAside } from './copy-moves.ts';
import { formatIndex } from './index-document.ts';
import { checkBundle } from './store-check.ts';
import type { StoreDisk } from './store-disk.ts';
import { bundleFolder, bundlesFolder, damagedFolder, indexName } from './store-layout.ts';

/**
 * @param staged a folder in the store that holds the synced pack and nothing else
 * @returns the index of what lies there now: an earlier copy may hold its files in another order
 * @throws what the disk throws
 */
export async function commitBundle(
  storeDir: string,
  staged: string,
  index: BundleIndex,
  packBytes: number,
  disk: StoreDisk,
): Promise<BundleIndex> {
  await disk.writeText(join(staged, indexName), formatIndex({ index, packBytes }));
  await disk.syncFolder(staged);
  const target = bundleFolder(storeDir, index.digest);
  await disk.makeFolder(bundlesFolder(storeDir));
  // What the disk cannot give now does not stay in place of what was just verified.
  const names = await disk.list(target).catch(() => undefined);
  const isFree = names?.length === 0;
  if (!isFree) {
    const earlier = names && (await checkBundle(target, index.digest, disk).catch(() => undefined));
    if (earlier !== undefined && holdsAllOf(index, earlier.index)) return earlier.index;
    await setAside(storeDir, target, index.digest, disk);
  }
  await disk.rename(staged, target);
  await disk.syncFolder(dirname(target));
  await disk.syncFolder(dirname(staged));
  if (!isFree) {
    // The new copy is whole, also where the volume keeps the bad one; the next sweep tries again.
    await removeCopy(storeDir, damagedFolder(storeDir, index.digest), index.digest, disk).catch(() => {});
  }
  return index;
}

/** The earlier copy may have been written without files that --serve-dotfiles shows since. Of one digest, rows are equal. */
function holdsAllOf({ files }: BundleIndex, earlier: BundleIndex): boolean {
  return files.every((file, at) => !isHeld(file) || isHeld(earlier.files[at] ?? file));
}
