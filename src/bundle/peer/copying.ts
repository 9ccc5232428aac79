// Takes a peer's copy of a bundle into the store, in a thread of its own: not one byte of it passes through the
// thread that serves. Owns the removal of what an ended thread leaves.
// Invariant: a copy that fails leaves nothing.

import { join } from 'node:path';
import { BundleError } from '../bundle-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import type { BundleLimits } from '../limits.ts';
import { removeQuietly } from '../store/store-disk.ts';
import { incomingPrefix } from '../store/store-layout.ts';
import { runThread, type ThreadProgress } from '../thread/thread-work.ts';
import type { CopyOrder } from './copy-order.ts';

export interface CopyWatcher {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ThreadProgress) => void;
}

/**
 * Takes the peer's copy into the store.
 *
 * @param copyName unique, names the folder while it is on its way
 * @throws {BundleError} `CopyRefused` (it lied), `PeerBusy`, `PeerLost` (gone, slow or silent), `CopyFailed` (the
 *   thread died), the store's faults; the signal's reason
 */
export type TakeCopy = (
  origin: string,
  digest: string,
  copyName: string,
  watcher: CopyWatcher,
) => Promise<void>;

export interface CopyingOptions {
  readonly storeDir: string;
  readonly limits: BundleLimits;
  readonly userAgent: string;
  /** Awaited between two slices of the index, and lets others run. */
  readonly pause: () => Promise<void>;
  /** Called with the index of each copy once it is committed. */
  readonly note: (storeDir: string, index: BundleIndex) => void;
}

/** An index of as many files as are allowed takes half of it. */
const maxHeapMb = 144;

/** @param program of the worker (`src/bin/bundle-worker.ts`, or where the build put it) */
export function copyInWorker(program: URL, options: CopyingOptions): TakeCopy {
  const { storeDir, limits, userAgent, pause, note } = options;
  return async (origin, digest, copyName, { signal, onProgress }) => {
    const workDir = join(storeDir, `${incomingPrefix}${copyName}`);
    const order: CopyOrder = { task: 'copy', origin, digest, storeDir, workDir, limits, userAgent };
    try {
      const result = await runThread({ program, order, lost, signal, onProgress, pause, maxHeapMb });
      if (result?.index !== undefined) note(storeDir, result.index);
    } finally {
      await removeQuietly(workDir);
    }
  };
}

function lost(cause: unknown): BundleError {
  return new BundleError(
    'transient',
    'CopyFailed',
    'the thread that copies from other servers ended unexpectedly (out of memory, or a defect); the link is used',
    { cause },
  );
}
