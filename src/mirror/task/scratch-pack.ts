// The content of an archive that is being inspected, on disk until it is copied. A full disk ends the keeping, not the
// inspection: the verdict on an archive must not depend on a mirror. Invariant: its file has no name once it can be read.

import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { createCountingSink, createPackWriter, type PackSink, type PackWriter } from '#bundle/store/pack.ts';
import { storeFault } from '#bundle/store/store-fault.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { makeFolder } from '#platform/runtime/folder.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export interface ScratchPack {
  readonly sink: PackSink;
  /**
   * Ends the writing.
   *
   * @param index of what was written
   * @returns the bundle, for the caller to close; or the disk's error
   */
  open(index: BundleIndex): Promise<StoredBundle | { readonly fault: PublishableError }>;
  /** Without an effect on an open bundle. */
  abandon(): void;
}

/** @param path of a name that the file has until it is opened; its folder is made, and left to the caller */
export async function createScratchPack(path: string): Promise<ScratchPack> {
  const counting = createCountingSink();
  let fault: PublishableError | undefined;
  let pack: PackWriter | undefined;
  const abandon = (): void => {
    if (pack === undefined) return;
    pack.abandon();
    pack = undefined;
    // The work folder is removed later anyway.
    attempt(() => rmSync(path, { force: true }));
  };
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      fault = faultOf(error);
    }
  };
  /** Frees the space at once, for other inspections. */
  const tolerate = (work: () => void): void => {
    attempt(work);
    if (fault !== undefined) abandon();
  };
  await makeFolder(dirname(path)).catch((error: unknown) => {
    fault = faultOf(error);
  });
  if (fault === undefined) {
    tolerate(() => {
      pack = createPackWriter(path);
    });
  }
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
      if (fault !== undefined) return { fault };
      try {
        return await openPack(path, index, undefined);
      } catch (error) {
        return { fault: faultOf(error) };
      } finally {
        abandon();
      }
    },
    abandon,
  };
}

const faultOf = (error: unknown): PublishableError =>
  error instanceof PublishableError ? error : storeFault(error);
