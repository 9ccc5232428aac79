// A bundle of a checked kit, unpacked into a folder of its own and proven by its digest, before any target is written.
// Invariant: what is returned has the digest that the kit names.

import { join } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import { inStore } from '#bundle/store/store-fault.ts';
import { packName } from '#bundle/store/store-layout.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { BlobReader } from '#mirror/carrier.ts';
import { readKitBundle } from '#mirror/kit/kit-bundle.ts';
import type { KitBundle } from '#mirror/kit/kit-document.ts';
import { makeFolder } from '#platform/runtime/folder.ts';

export interface StagedBundle {
  /** Holds the synced pack and nothing else. */
  readonly folder: string;
  readonly index: BundleIndex;
  readonly packBytes: number;
}

export interface StageOptions {
  readonly limits: BundleLimits;
  /** Of a delta. */
  readonly base: StoredBundle | undefined;
  /** A server's store holds no bytes of hidden files. */
  readonly keepsHiddenFiles: boolean;
  readonly onProgress: () => void;
}

/**
 * @param workDir a folder of this bundle alone, which the caller removes
 * @throws {KitError} `KitDamaged`; {PublishableError} `StoreFull`, `DigestMismatch` and others; the signal's reason
 */
export async function stageBundle(
  bundle: KitBundle,
  blobs: BlobReader,
  workDir: string,
  { limits, base, keepsHiddenFiles, onProgress }: StageOptions,
  signal: AbortSignal,
): Promise<StagedBundle> {
  const folder = join(workDir, 'bundle');
  await inStore(makeFolder(folder));
  const pack = createPackWriter(join(folder, packName));
  try {
    const sink = { limits, pack, workDir, onProgress };
    const read = await readKitBundle(bundle, blobs, base, sink, signal);
    const index = pack.compact(
      read,
      keepsHiddenFiles ? read.files : read.files.filter(({ path }) => !isHiddenFile(path)),
    );
    await pack.commit();
    return { folder, index, packBytes: pack.position };
  } finally {
    pack.abandon();
  }
}
