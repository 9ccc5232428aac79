// Checks a stored bundle in a thread of its own, so that the hashing keeps no request waiting; and knows which
// copies were written and hashed by a thread of this run a moment ago, so that they are not read once more.
// Invariant: an answer is the whole index or that the copy is bad; a thread that is lost is neither.

import { BundleError } from '../bundle-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import { runThread } from '../thread/thread-work.ts';
import type { CheckOrder } from './check-order.ts';
import { bundleFolder } from './store-layout.ts';

/**
 * Whether the bundle in a folder still is what its digest says.
 *
 * @returns its index, or `undefined` where anything is missing, damaged or not of this digest
 */
export type CheckCopy = (folder: string, digest: string) => Promise<BundleIndex | undefined>;

/**
 * @param workerUrl program of the worker (`src/bin/bundle-worker.ts`, or where the build put it)
 * @param pause is awaited between two slices of the index, and lets others run
 * @returns a check that throws a transient BundleError where the disk or the thread failed
 */
export function checkInWorker(workerUrl: URL, pause: () => Promise<void>): CheckCopy {
  return async (folder, digest) => {
    const order: CheckOrder = { task: 'check', folder, digest };
    return (await runThread({ program: workerUrl, order, lost: checkLost, pause }))?.index;
  };
}

/** The word of the threads that write to a store, in place of a second look. */
export interface WrittenCopies {
  /** A copy that was hashed on its way in, or read back, and then committed. */
  readonly note: (storeDir: string, index: BundleIndex) => void;
  /** Believes the copy noted last, at the check that follows it; looks at all else. */
  readonly check: CheckCopy;
}

export function rememberWritten(check: CheckCopy): WrittenCopies {
  let last: { readonly folder: string; readonly index: BundleIndex } | undefined;
  return {
    note: (storeDir, index) => {
      last = { folder: bundleFolder(storeDir, index.digest), index };
    },
    check: async (folder, digest) => {
      const noted = last;
      last = undefined;
      return noted?.folder === folder ? noted.index : check(folder, digest);
    },
  };
}

function checkLost(cause: unknown): BundleError {
  return new BundleError(
    'transient',
    'CheckFailed',
    'the thread that checks stored bundles ended unexpectedly (out of memory, or a defect); it will be tried again',
    { cause },
  );
}
