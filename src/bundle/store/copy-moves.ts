// Where a copy of a store goes that is not good: it is removed, or set aside and later put back. Refuses to change a copy.
// Invariant: each move is one rename, so that a kill leaves a copy whole, in one place, or on its way out.

import { join } from 'node:path';
import type { StoreDisk } from './store-disk.ts';
import { bundleFolder, damagedFolder, damagedPrefix, digestPattern, outgoingPrefix } from './store-layout.ts';

/** @param folder of the copy */
export async function removeCopy(
  storeDir: string,
  folder: string,
  digest: string,
  disk: StoreDisk,
): Promise<void> {
  const outgoing = join(storeDir, `${outgoingPrefix}${digest}`);
  await disk.remove(outgoing);
  await disk.rename(folder, outgoing);
  await disk.remove(outgoing);
}

/**
 * In `bundles`, a preparation of the same content would remove the copy, and other servers would be offered it. The first
 * copy that is set aside stays: what came later from a failing disk is no better.
 */
export async function setAside(
  storeDir: string,
  folder: string,
  digest: string,
  disk: StoreDisk,
): Promise<void> {
  const target = damagedFolder(storeDir, digest);
  if (folder === target) return;
  if ((await disk.list(target)).length > 0) await removeCopy(storeDir, folder, digest, disk);
  else await disk.rename(folder, target);
}

/** Digests of the copies that were set aside. */
export async function listSetAside(storeDir: string, disk: StoreDisk): Promise<readonly string[]> {
  return (await disk.list(storeDir))
    .filter((name) => name.startsWith(damagedPrefix))
    .map((name) => name.slice(damagedPrefix.length))
    .filter((digest) => digestPattern.test(digest));
}

/** @returns false where it stays: `bundles` has a copy of that content, or the volume can only be read */
export function putBack(storeDir: string, digest: string, disk: StoreDisk): Promise<boolean> {
  // The system renames no folder over another one that has files.
  const moved = disk.rename(damagedFolder(storeDir, digest), bundleFolder(storeDir, digest));
  return moved.then(
    () => true,
    () => false,
  );
}
