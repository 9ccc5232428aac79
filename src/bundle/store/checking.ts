// Both sides of checking a stored bundle in a thread, so that hashing delays no request: to its end, or begun, so that
// the bundle can be served meanwhile. Remembers which copy a thread of this process has just written and hashed, so that
// it is not read again. Invariant: a check returns the whole index, or that the copy is damaged; a failed thread returns
// neither.

import type { SendReport } from '#platform/runtime/task.ts';
import type { BundleIndex } from '../bundle-index.ts';
import { type BundleReport, type BundleSummary, handOver, runBundleTask, summaryOf } from '../bundle-task.ts';
import { bundleDamaged, createRunningCheck, type PendingCheck } from './pending-check.ts';
import { checkBundle } from './store-check.ts';
import { systemDisk } from './store-disk.ts';
import { storeFault } from './store-fault.ts';
import { bundleFolder } from './store-layout.ts';

/**
 * Whether the bundle in a folder still is what its digest says.
 *
 * @returns its index, or `undefined` where anything is missing, damaged or not of this digest
 */
export type CheckCopy = (folder: string, digest: string) => Promise<BundleIndex | undefined>;

/**
 * Checks the index of a copy and the size of its pack, and begins to check its files.
 *
 * @returns `undefined` where the copy is known to be bad already
 */
export type BeginCheck = (
  folder: string,
  digest: string,
) => Promise<{ readonly index: BundleIndex; readonly check: PendingCheck } | undefined>;

/** Crosses to the thread. */
export interface CheckTask {
  readonly folder: string;
  readonly digest: string;
  /** Meanwhile: the check goes on behind a damaged file, because the intact ones are served. */
  readonly isServed: boolean;
}

const failure = { code: 'CheckFailed', work: 'checking the stored bundle' };

/**
 * @param program of the thread (`src/bin/check-worker.ts`, or where the build put it)
 * @param pause is awaited after each slice of the index, and lets others run
 * @param onIndex receives what the index says while the files are hashed, so that work on it is done by then. Nothing of it
 *   may be used unless the check returns the same files
 * @returns a check that throws a transient PublishableError where the disk or the thread failed
 */
export function checkInWorker(
  program: URL,
  pause: () => Promise<void>,
  onIndex: (unverified: BundleIndex) => void = () => {},
): CheckCopy {
  return (folder, digest) => {
    const task: CheckTask = { folder, digest, isServed: false };
    return runBundleTask(program, task, { failure, pause, onIndex });
  };
}

/**
 * As {@link checkInWorker}, for a copy that is served meanwhile.
 *
 * @param onIndex as there, and a little before the check has begun for its caller
 * @param signal ends the thread
 */
export function beginCheckInWorker(
  program: URL,
  pause: () => Promise<void>,
  onIndex: (unverified: BundleIndex) => void,
  signal: AbortSignal,
): BeginCheck {
  return (folder, digest) => {
    const task: CheckTask = { folder, digest, isServed: true };
    const check = createRunningCheck();
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<BeginCheck>>>();
    const begun = (index: BundleIndex): void => {
      onIndex(index);
      resolve({ index, check });
    };
    const end = (index: BundleIndex | undefined): void => {
      if (index === undefined) check.fail(bundleDamaged());
      else check.finish();
      resolve(index && { index, check });
    };
    const fail = (error: unknown): void => {
      check.fail(error);
      reject(error);
    };
    const steps = { onIndex: begun, onProven: check.advance, onDamaged: check.damage };
    const options = { failure, pause, signal, ...steps };
    runBundleTask(program, task, options).then(end, fail);
    return promise;
  };
}

/**
 * The thread's side: every file of the pack is hashed before it resolves, or those up to the first damaged one. The index
 * goes ahead, so that its starter has read it by then.
 *
 * @throws {PublishableError} of the disk
 */
export async function runCheck(
  { folder, digest, isServed }: CheckTask,
  report: SendReport<BundleReport>,
): Promise<BundleSummary | undefined> {
  try {
    const document = await checkBundle(folder, digest, systemDisk, {
      onIndex: (index) => handOver(index, report),
      onProven: (provenTo) => void report({ provenTo }),
      ...(isServed && { onDamaged: (damaged) => void report({ damaged }) }),
    });
    return document && summaryOf(document.index);
  } catch (error) {
    throw storeFault(error);
  }
}

/** Copies that the threads which write to a store have just verified. */
export interface WrittenCopies {
  /** A copy that was hashed on its way in, or read back, and then committed. */
  readonly note: (storeDir: string, index: BundleIndex) => void;
  /** Trusts the copy noted last, at the check that follows it; checks every other one. */
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
