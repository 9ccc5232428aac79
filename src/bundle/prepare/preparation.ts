// Starts the worker thread that downloads, verifies and packs a bundle, and waits for its word.
// Owns: how long it may stand still, and the removal of what it leaves behind.
// Invariant: whatever happens (done, refused, aborted, crashed, stuck), no work folder stays.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { type Random, systemRandom } from '../../runtime/random.ts';
import type { Link } from '../../wire/link.ts';
import { BundleError } from '../bundle-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import type { BundleLimits } from '../limits.ts';
import { removeQuietly } from '../store/store-disk.ts';
import type { BundleSummary } from '../thread/thread-message.ts';
import { runThread } from '../thread/thread-work.ts';
import type { PreparationOrder } from './preparation-message.ts';

export interface PrepareRequest {
  readonly link: Link;
  /** The store to put the bundle in; `undefined`: inspect only, nothing is kept. */
  readonly storeDir: string | undefined;
  /** SHA-256 hex; anything else is refused with `DigestMismatch`. */
  readonly expectedDigest: string | undefined;
  readonly limits: BundleLimits;
  /** Whether the link may lead to loopback, link-local, private or cluster addresses. */
  readonly allowPrivateLinks: boolean;
  /** Whether a `file:` link may be read. For links that the program's own user typed; default false. */
  readonly allowFileLinks?: boolean | undefined;
  /** PEM of authorities to trust beside the system's. */
  readonly extraCaPem: string | undefined;
  readonly userAgent: string;
}

export interface PrepareProgress {
  readonly receivedBytes: number;
  readonly files: number;
}

export interface PrepareOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: PrepareProgress) => void;
  /** For a caller that goes on with the bundle: its index, in slices, with a pause before each for others. */
  readonly handOver?: {
    readonly pause: () => Promise<void>;
    /** What lies in the store now under that digest, verified. Called before the promise resolves. */
    readonly take: (index: BundleIndex) => void;
  };
  readonly clock?: Clock;
  readonly random?: Random;
}

/** The worker reports at least this often while bytes move, so silence beyond the idle limit is a standstill. */
const graceMs = 15_000;

/**
 * Downloads and reads the whole archive in a worker thread; with `storeDir`, leaves a committed bundle there.
 *
 * @param workerUrl program of the worker (`src/bin/bundle-worker.ts`, or where the build put it)
 * @returns what was read, in sum
 * @throws {BundleError} for everything the link or the archive did, and for a signal that was a deadline;
 *   the signal's reason when aborted otherwise
 */
export async function prepareInWorker(
  workerUrl: URL,
  request: PrepareRequest,
  options: PrepareOptions,
): Promise<BundleSummary> {
  const { signal, clock = systemClock, random = systemRandom, onProgress, handOver } = options;
  if (signal.aborted) throw abortFault(signal.reason);
  const parent = request.storeDir ?? tmpdir();
  const workDir = join(parent, `.incoming-${random.uuid()}`);
  try {
    const result = await runThread({
      program: workerUrl,
      order: writeOrder(request, workDir),
      lost: workerLost,
      standstill: { limitMs: request.limits.idleTimeoutMs + graceMs, clock, fault: stalled },
      signal,
      onProgress,
      pause: handOver?.pause,
    });
    if (result === undefined) throw workerLost(undefined);
    if (result.index !== undefined) handOver?.take(result.index);
    return result.summary;
  } catch (error) {
    throw signal.aborted ? abortFault(signal.reason) : error;
  } finally {
    await removeQuietly(workDir);
  }
}

function writeOrder(request: PrepareRequest, workDir: string): PreparationOrder {
  return {
    link: request.link.reveal(),
    storeDir: request.storeDir,
    workDir,
    expectedDigest: request.expectedDigest,
    limits: request.limits,
    allowPrivateLinks: request.allowPrivateLinks,
    allowFileLinks: request.allowFileLinks ?? false,
    extraCaPem: request.extraCaPem,
    userAgent: request.userAgent,
  };
}

function stalled(): BundleError {
  return new BundleError(
    'transient',
    'PreparationStalled',
    'reading the archive stood still; it will be tried again',
  );
}

/** A deadline is the storage's or the machine's slowness, not the caller's wish. */
function abortFault(reason: unknown): unknown {
  const isDeadline = reason instanceof DOMException && reason.name === 'TimeoutError';
  if (!isDeadline) return reason;
  return new BundleError('transient', 'PreparationTimeout', 'preparing the bundle took longer than allowed', {
    cause: reason,
  });
}

function workerLost(cause: unknown): BundleError {
  return new BundleError(
    'transient',
    'PreparationFailed',
    'the thread that prepares bundles ended unexpectedly (out of memory, or a defect); it will be tried again',
    { cause },
  );
}
