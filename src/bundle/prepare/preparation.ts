// Starts the worker thread that downloads, verifies and packs a bundle, and waits for its result. Owns: the thread's
// deadline, and the removal of files that it leaves. Invariant: no work folder stays, whether the thread is done,
// refused, aborted, crashed or stuck.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { type Random, systemRandom } from '#platform/runtime/random.ts';
import type { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import { type BundleProgress, type BundleSummary, type OnWritten, runBundleTask } from '../bundle-task.ts';
import type { BundleLimits } from '../limits.ts';
import { removeQuietly } from '../store/store-disk.ts';

/** Where the content goes, from whatever source it comes. */
export interface StoreRequest {
  /** The store to put the bundle in; `undefined`: inspect only, nothing is kept. */
  readonly storeDir: string | undefined;
  readonly limits: BundleLimits;
  /**
   * Whether the pack keeps the bytes of hidden files, so that the whole content can be written again; default false. A
   * server must not set it: it never needs them.
   */
  readonly keepsHiddenFiles?: boolean | undefined;
  /** Names of hidden files and folders that are served, and so kept and counted: see `isHiddenFile`. */
  readonly serveDotfiles?: readonly string[] | undefined;
  /** PEM of CA certificates to trust in addition to the system's. */
  readonly extraCaPem: string | undefined;
  readonly userAgent: string;
}

/** What the thread needs in addition. */
export interface ThreadsOwn {
  /** A folder of this task alone; the thread makes it when it needs one, the starter removes it. */
  readonly workDir: string;
  /** Whether the index is handed over: once the bundle is verified, or once it is committed. */
  readonly wantsFiles: boolean;
}

export type StoringTask = Pick<StoreRequest, 'storeDir' | 'keepsHiddenFiles' | 'serveDotfiles'> &
  Pick<ThreadsOwn, 'workDir'>;

export interface PrepareRequest extends StoreRequest {
  readonly link: Link;
  /** SHA-256 hex; anything else is rejected with `DigestMismatch`. */
  readonly expectedDigest: string | undefined;
  /** Whether the link may lead to loopback, link-local, private or cluster addresses. */
  readonly allowPrivateLinks: boolean;
  /** Whether a `file:` link may be read. For links that the program's own user typed; default false. */
  readonly allowFileLinks?: boolean | undefined;
}

/** Crosses to the thread, inside one process only: the link as text. */
export interface PrepareTask extends Omit<PrepareRequest, 'link' | 'allowFileLinks'>, ThreadsOwn {
  readonly task: 'prepare';
  readonly link: string;
  /** Epoch ms, as the link's issuer claims. */
  readonly linkExpiresAt?: number | undefined;
  /** Length of the archive, as the link's issuer claims. */
  readonly linkBytes?: number | undefined;
  readonly allowFileLinks: boolean;
}

export interface PrepareOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: BundleProgress) => void;
  /** For a caller that serves the bundle: its index, in slices, with a pause after each. */
  readonly handOver?: {
    readonly pause: () => Promise<void>;
    /** What lies in the store now under that digest, verified. Called before the promise resolves. */
    readonly take: (index: BundleIndex) => void;
    /** May be called before, with what was verified and is being stored, so that it can be served meanwhile. */
    readonly offer?: OnWritten | undefined;
  };
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Without a byte of the download: for unpacking a zip, and for syncing to a slow disk. */
const silenceMs = 15 * 60_000;
const failure = { code: 'PreparationFailed', work: 'preparing the bundle' };

/**
 * Downloads and reads the whole archive in a worker thread; with `storeDir`, leaves a committed bundle there.
 *
 * @param program of the thread (`src/bin/bundle-worker.ts`, or where the build put it)
 * @returns what was read, without its files
 * @throws {PublishableError} for everything the link or the archive did, and for a signal that was a deadline;
 *   the signal's reason when aborted otherwise
 */
export function prepareInWorker(
  program: URL,
  request: PrepareRequest,
  options: PrepareOptions,
): Promise<BundleSummary> {
  const { link, allowFileLinks = false } = request;
  return storeInWorker(
    program,
    request.storeDir,
    (own): PrepareTask => ({ ...request, ...own, task: 'prepare', ...sentLink(link), allowFileLinks }),
    options,
  );
}

/** A link as it crosses to a thread of this process. */
export function sentLink(link: Link): Pick<PrepareTask, 'link' | 'linkExpiresAt' | 'linkBytes'> {
  return { link: link.reveal(), linkExpiresAt: link.claimedExpiresAt, linkBytes: link.claimedBytes };
}

/**
 * Does any task that reads a bundle and puts it into a store.
 *
 * @param storeDir `undefined`: nothing is kept
 * @param taskOf what crosses to the thread
 * @throws {PublishableError} the thread's, and for a signal that was a deadline; the signal's reason when aborted otherwise
 */
export async function storeInWorker<Task>(
  program: URL,
  storeDir: string | undefined,
  taskOf: (own: ThreadsOwn) => Task,
  options: PrepareOptions,
): Promise<BundleSummary> {
  const { handOver } = options;
  return inWorkFolder(storeDir ?? tmpdir(), options, async ({ workDir, signal, onProgress }) => {
    const task = taskOf({ workDir, wantsFiles: handOver !== undefined });
    const index = await runBundleTask(program, task, {
      ...{ failure, signal, onProgress, pause: handOver?.pause, onWritten: handOver?.offer },
    });
    if (index === undefined) throw new Error('only a check finds a bundle damaged');
    handOver?.take(index);
    return index;
  });
}

/** What work in a thread gets. */
export interface FolderWork {
  /** Of this work alone. */
  readonly workDir: string;
  /** Also aborts after a long silence. */
  readonly signal: AbortSignal;
  /** Ends the silence. */
  readonly onProgress: (progress: BundleProgress) => void;
}

/**
 * Does work that has a work folder, and removes the folder when the work has ended.
 *
 * @param parent of the folder
 * @throws what the work throws; {PublishableError} `PreparationTimeout` for a deadline; the signal's reason
 */
export async function inWorkFolder<T>(
  parent: string,
  options: Omit<PrepareOptions, 'handOver'>,
  work: (folder: FolderWork) => Promise<T>,
): Promise<T> {
  const { signal, clock = systemClock, random = systemRandom, onProgress } = options;
  if (signal.aborted) throw abortFault(signal.reason);
  const workDir = join(parent, `.incoming-${random.uuid()}`);
  const silence = watchSilence(clock);
  const deadline = AbortSignal.any([signal, silence.signal]);
  const report = (progress: BundleProgress): void => {
    silence.restart();
    onProgress?.(progress);
  };
  try {
    return await work({ workDir, signal: deadline, onProgress: report });
  } catch (error) {
    throw deadline.aborted ? abortFault(deadline.reason) : error;
  } finally {
    silence.end();
    await removeQuietly(workDir);
  }
}

/** Ends work that neither progresses nor fails: a thread on a volume that hangs, a decoder that loops. */
function watchSilence(clock: Clock) {
  const silent = new AbortController();
  let current = new AbortController();
  const restart = (): void => {
    current.abort();
    current = new AbortController();
    const report = (): void => silent.abort(new DOMException('no progress', 'TimeoutError'));
    clock.after(silenceMs, current.signal).then(report, () => {});
  };
  restart();
  return { signal: silent.signal, restart, end: () => current.abort() };
}

/** A deadline is the storage's or the machine's slowness, not the caller's wish. */
function abortFault(reason: unknown): unknown {
  const isDeadline = reason instanceof DOMException && reason.name === 'TimeoutError';
  if (!isDeadline) return reason;
  return new PublishableError('PreparationTimeout', 'preparing the bundle took longer than allowed', {
    kind: 'retry',
    cause: reason,
  });
}
