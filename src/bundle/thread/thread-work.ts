// Gives a thread one order and waits for its last word; where the index is wanted, takes it over in slices, so that
// even that of a large site keeps no request waiting. Owns the thread's life.
// Invariant: it ends, with a word of the thread, or with an error; and then the thread is gone.

import { Worker } from 'node:worker_threads';
import type { Clock } from '../../runtime/clock.ts';
import { BundleError } from '../bundle-error.ts';
import type { BundleFile, BundleIndex } from '../bundle-index.ts';
import { type BundleSummary, nextSlice, parseThreadReport, type ThreadReport } from './thread-message.ts';

export interface ThreadWork {
  /** Program of the thread (`src/bin/bundle-worker.ts`, or where the build put it). */
  readonly program: URL;
  /** Its `workerData`. */
  readonly order: unknown;
  /** What it is called when the thread ends without a word. */
  readonly lost: (cause: unknown) => BundleError;
  readonly onProgress?: ((progress: ThreadProgress) => void) | undefined;
  /** Where the index is wanted: awaited before each of its slices, and lets others run. */
  readonly pause?: (() => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Objects and strings of the thread; beyond it, it is lost. None: the runtime's own limit. */
  readonly maxHeapMb?: number | undefined;
  /** Where silence beyond a limit means that it stands still. */
  readonly standstill?: StandstillWatch | undefined;
}

export interface StandstillWatch {
  readonly limitMs: number;
  readonly clock: Clock;
  readonly fault: () => BundleError;
}

export interface ThreadProgress {
  readonly receivedBytes: number;
  readonly files: number;
}

export interface ThreadResult {
  readonly summary: BundleSummary;
  /** `undefined` where no `pause` was given. */
  readonly index: BundleIndex | undefined;
}

/**
 * @returns `undefined` when a check found the copy bad
 * @throws {BundleError} the thread's, or `lost` or the standstill's; the signal's reason
 */
export async function runThread(work: ThreadWork): Promise<ThreadResult | undefined> {
  work.signal?.throwIfAborted();
  const resourceLimits = work.maxHeapMb === undefined ? {} : { maxOldGenerationSizeMb: work.maxHeapMb };
  const thread = new Worker(work.program, { workerData: work.order, resourceLimits });
  const settled = new AbortController();
  try {
    return await converse(thread, work, settled.signal);
  } finally {
    settled.abort();
    await thread.terminate();
  }
}

function converse(thread: Worker, work: ThreadWork, settled: AbortSignal): Promise<ThreadResult | undefined> {
  const { lost, onProgress, pause, signal, standstill } = work;
  const files: BundleFile[] = [];
  let summary: BundleSummary | undefined;
  let heardAt = standstill?.clock.monotonic() ?? 0;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(error instanceof BundleError ? error : lost(error));
    const takeOver = (report: ThreadReport & { type: 'done' | 'rows' }): void => {
      if (report.type === 'done') summary = report.summary;
      else for (const row of report.rows) files.push(row);
      if (summary === undefined) fail(undefined);
      else if (pause === undefined) resolve({ summary, index: undefined });
      else if (files.length >= summary.fileCount) resolve({ summary, index: indexOf(summary, files) });
      else pause().then(() => thread.postMessage(nextSlice), fail);
    };
    // Settles at once, never a turn later: the thread's end may be told right behind its last word.
    const hear = (message: unknown): void => {
      heardAt = standstill?.clock.monotonic() ?? 0;
      const report = parseThreadReport(message);
      if (report.type === 'progress') onProgress?.(report);
      else if (report.type === 'bad') resolve(undefined);
      else if (report.type === 'failed') fail(new BundleError(report.kind, report.code, report.message));
      else takeOver(report);
    };
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true, signal: settled });
    thread.on('message', (message: unknown) => {
      try {
        hear(message);
      } catch (error) {
        fail(error);
      }
    });
    thread.on('error', (error) => reject(lost(error)));
    thread.on('exit', () => reject(lost(undefined)));
    if (standstill !== undefined) watchStandstill(standstill, () => heardAt, settled).then(reject, () => {});
  });
}

function indexOf({ fileCount: _, ...facts }: BundleSummary, files: readonly BundleFile[]): BundleIndex {
  return { ...facts, files };
}

/** Resolves with the error of a thread that has been silent for too long; rejects once it has settled. */
async function watchStandstill(
  { limitMs, clock, fault }: StandstillWatch,
  heardAt: () => number,
  settled: AbortSignal,
): Promise<BundleError> {
  for (;;) {
    const leftMs = heardAt() + limitMs - clock.monotonic();
    if (leftMs <= 0) return fault();
    await clock.after(leftMs, settled);
  }
}
