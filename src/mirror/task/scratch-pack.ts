// The content of an archive that is being inspected, on disk until it is copied. A full disk ends the keeping, not the
// inspection: the verdict on an archive must not depend on a mirror. Invariant: its file has no name once it can be read.

import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BundleIndex } from '../../bundle/bundle-index.ts';
import {
  createCountingSink,
  createPackWriter,
  type PackSink,
  type PackWriter,
} from '../../bundle/store/pack.ts';
import { openPack, type StoredBundle } from '../../bundle/store/stored-bundle.ts';
import { makeFolder } from '../../runtime/folder.ts';

export interface ScratchPack {
  readonly sink: PackSink;
  /**
   * Ends the writing.
   *
   * @param index of what was written
   * @returns the bundle, for the caller to close; or the disk's error
   */
  open(index: BundleIndex): Promise<StoredBundle | { readonly fault: unknown }>;
  /** Without an effect on an open bundle. */
  abandon(): void;
}

/** @param path of a name that the file has until it is opened; its folder is made, and left to the caller */
export async function createScratchPack(path: string): Promise<ScratchPack> {
  const counting = createCountingSink();
  let fault: unknown;
  let pack: PackWriter | undefined;
  const abandon = (): void => {
    pack?.abandon();
    pack = undefined;
    rmSync(path, { force: true });
  };
  /** Frees the space at once, for other inspections. */
  const tolerate = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      fault = error;
      abandon();
    }
  };
  await makeFolder(dirname(path)).catch((error: unknown) => {
    fault = error;
  });
  if (fault === undefined)
    tolerate(() => {
      pack = createPackWriter(path);
    });
  const sink: PackSink = {
    get position() {
      return counting.position;
    },
    append: (chunk) => {
      counting.append(chunk);
      tolerate(() => pack?.append(chunk));
    },
  };
  return {
    sink,
    open: async (index) => {
      tolerate(() => pack?.finish());
      if (pack === undefined) return { fault };
      try {
        const opened = await openPack(path, index, undefined);
        rmSync(path);
        return opened;
      } catch (error) {
        return { fault: error };
      } finally {
        abandon();
      }
    },
    abandon,
  };
}
