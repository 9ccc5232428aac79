// Takes a peer's copy of a bundle into the store, in a worker thread: no byte of it passes through the serving thread.
// Owns the removal of files that an ended thread leaves. Invariant: a copy that fails leaves nothing behind.

import { join } from 'node:path';
import type { BundleIndex } from '../bundle-index.ts';
import { type BundleProgress, runBundleTask } from '../bundle-task.ts';
import type { BundleLimits } from '../limits.ts';
import { removeQuietly } from '../store/store-disk.ts';
import { incomingPrefix } from '../store/store-layout.ts';

export interface CopyWatcher {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BundleProgress) => void;
}

/**
 * Takes the peer's copy into the store.
 *
 * @param copyName unique, names the folder of the copy until it is complete
 * @throws {PublishableError} `CopyRefused` (the copy is not what its index says), `PeerBusy`, `PeerLost` (gone, slow or
 *   silent), `CopyFailed` (the thread failed), the store's faults; the signal's reason
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
  /** See `isHiddenFile`: a copy must have the bytes of these. */
  readonly serveDotfiles?: readonly string[] | undefined;
  /** Awaited after each slice of the index, and lets others run. */
  readonly pause: () => Promise<void>;
  /** Called with the index of each copy once it is committed. */
  readonly note: (storeDir: string, index: BundleIndex) => void;
}

/** Crosses to the thread. */
export interface PeerCopyTask
  extends Pick<CopyingOptions, 'storeDir' | 'limits' | 'userAgent' | 'serveDotfiles'> {
  readonly task: 'copy';
  /** Such as `http://10.0.0.7:9090`. */
  readonly origin: string;
  readonly digest: string;
  /** A folder of this copy alone, made by the thread and removed by its starter. */
  readonly workDir: string;
}

const failure = { code: 'CopyFailed', work: 'copying the bundle from another server' };
/** An index of as many files as are allowed takes half of it. */
const threadLimits = { maxOldGenerationSizeMb: 144 };

/** @param program of the thread (`src/bin/bundle-worker.ts`, or where the build put it) */
export function copyInWorker(program: URL, options: CopyingOptions): TakeCopy {
  const { storeDir, limits, userAgent, serveDotfiles, pause, note } = options;
  return async (origin, digest, copyName, watcher) => {
    const workDir = join(storeDir, `${incomingPrefix}${copyName}`);
    const own = { origin, digest, storeDir, workDir, limits, userAgent, serveDotfiles };
    const task: PeerCopyTask = { task: 'copy', ...own };
    try {
      const index = await runBundleTask(program, task, { ...watcher, failure, pause, limits: threadLimits });
      if (index !== undefined) note(storeDir, index);
    } finally {
      await removeQuietly(workDir);
    }
  };
}
