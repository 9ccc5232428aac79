// Starts the worker thread that brings a mirrored bundle into a store, and waits for its result. Refuses a reference
// without a content digest. Invariant: credentials cross to a thread of this process only.

import type { BundleSummary } from '#bundle/bundle-task.ts';
import {
  type PrepareOptions,
  type StoreRequest,
  storeInWorker,
  type ThreadsOwn,
} from '#bundle/prepare/preparation.ts';
import type { MirrorAccess } from './open-carrier.ts';

export interface RestoreRequest extends Omit<StoreRequest, 'extraCaPem' | 'userAgent'> {
  /** See `parseReference`. */
  readonly ref: string;
  /** Content digest, 64 hex digits. */
  readonly digest: string;
  readonly access: MirrorAccess;
}

/** Crosses to the thread. */
export interface RestoreTask extends RestoreRequest, ThreadsOwn {
  readonly task: 'restore';
}

/**
 * Reads the whole bundle in a worker thread and leaves it in the store.
 *
 * @throws {PublishableError} with the code of the mirror's or the archive's error; the signal's reason
 */
export function restoreInWorker(
  program: URL,
  request: RestoreRequest,
  options: PrepareOptions,
): Promise<BundleSummary> {
  const { storeDir } = request;
  return storeInWorker(
    program,
    storeDir,
    (own): RestoreTask => ({ ...request, ...own, task: 'restore' }),
    options,
  );
}
