// Both sides of a task about one bundle in a worker thread: progress, errors of the thread, and its index in slices.
// Refuses nothing. A failure that the thread did not explain may be retried, because it says nothing about the bundle. Invariant: no message holds more than one slice of rows, because reading a message delays every
// request meanwhile.

import type { ResourceLimits } from 'node:worker_threads';
import type { Clock } from '#platform/runtime/clock.ts';
import { runTask, type SendReport, type TaskOptions, taskErrorCode } from '#platform/runtime/task.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { BundleFile, BundleIndex } from './bundle-index.ts';
import type { DamagedBytes } from './store/pending-check.ts';

/** Rows of one message. */
export const sliceRows = 500;

export interface BundleProgress {
  readonly receivedBytes: number;
  readonly files: number;
}

/** Where a task's thread reports its progress. */
export interface ProgressContext {
  readonly clock: Clock;
  readonly onProgress: (progress: BundleProgress) => void;
}

const reportEveryMs = 200;

/** @returns a report that passes on the first call, and later ones a few times a second */
export function throttleProgress({ clock, onProgress }: ProgressContext): ProgressContext['onProgress'] {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (clock.monotonic() - reportedAt < reportEveryMs) return;
    reportedAt = clock.monotonic();
    onProgress(progress);
  };
}

/**
 * What the thread sends before its result: how far it is, the index, and maybe that its pack can be read already. The
 * last rows come with the summary.
 */
export type BundleReport =
  | BundleProgress
  | { readonly rows: readonly BundleFile[]; readonly summary: BundleSummary | undefined }
  | { readonly provenTo: number }
  | { readonly damaged: DamagedBytes }
  | { readonly writtenPack: string; readonly summary: BundleSummary };

/** A bundle that was read, without its files. */
export type BundleSummary = Omit<BundleIndex, 'files'>;

/**
 * Receives a bundle that was read whole and verified, while it is being stored. Its pack is written and not synced, and
 * lies at this path until the promise resolves. It must not reject.
 */
export type OnWritten = (index: BundleIndex, packPath: string) => Promise<void>;

export interface BundleTaskOptions {
  /** Of an unexpected end: the error's code, and what failed. */
  readonly failure: { readonly code: string; readonly work: string };
  readonly onProgress?: ((progress: BundleProgress) => void) | undefined;
  /** Awaited after each slice of the index, and lets others run. */
  readonly pause?: (() => Promise<void>) | undefined;
  /** Receives the index, maybe long before the result, which may say that its files are not there. */
  readonly onIndex?: ((index: BundleIndex) => void) | undefined;
  /** Every file that begins before this byte of the pack is what its hash says. */
  readonly onProven?: ((position: number) => void) | undefined;
  /** The file of these bytes is not what its hash says. */
  readonly onDamaged?: ((bytes: DamagedBytes) => void) | undefined;
  readonly onWritten?: OnWritten | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: ResourceLimits;
}

/**
 * Does a task of `src/bin/bundle-worker.ts` or `src/bin/check-worker.ts`.
 *
 * @returns the index, without files where the thread handed none over; `undefined` when a check found damage
 * @throws {PublishableError} the thread's, or a transient one of an unexpected end; the signal's reason
 */
export async function runBundleTask<Task>(
  program: URL,
  task: Task,
  { failure, onProgress, pause, signal, limits = {}, ...on }: BundleTaskOptions,
): Promise<BundleIndex | undefined> {
  const files: BundleFile[] = [];
  const onReport = async (report: BundleReport): Promise<void> => {
    if ('provenTo' in report) return on.onProven?.(report.provenTo);
    if ('damaged' in report) return on.onDamaged?.(report.damaged);
    if ('writtenPack' in report) return on.onWritten?.({ ...report.summary, files }, report.writtenPack);
    if (!('rows' in report)) return onProgress?.(report);
    files.push(...report.rows);
    await pause?.();
    if (report.summary !== undefined) on.onIndex?.({ ...report.summary, files });
  };
  const options = { failure, limits, signal, onReport };
  const summary = await runThreadTask<Task, BundleSummary | undefined, BundleReport>(program, task, options);
  return summary && { ...summary, files };
}

export interface ThreadTaskOptions<Report> extends TaskOptions<Report>, Pick<BundleTaskOptions, 'failure'> {}

/**
 * Does any task of a thread that reads bundles.
 *
 * @throws {PublishableError} the thread's, or a transient one of an unexpected end; the signal's reason
 */
export async function runThreadTask<Task, Output, Report>(
  program: URL,
  task: Task,
  { failure, ...options }: ThreadTaskOptions<Report>,
): Promise<Output> {
  try {
    return await runTask<Task, Output, Report>(program, task, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw endOf(error, failure);
  }
}

function endOf(cause: unknown, { code, work }: BundleTaskOptions['failure']): PublishableError {
  if (cause instanceof PublishableError && taskErrorCode(cause) === undefined) return cause;
  const message = `${work} failed unexpectedly (${publishableCode(cause)})`;
  return new PublishableError(code, message, { kind: 'retry', cause });
}

/** The thread's side: sends the files, each slice when the one before was taken. */
export async function handOver(index: BundleIndex, report: SendReport<BundleReport>): Promise<BundleSummary> {
  const summary = summaryOf(index);
  for (let at = 0; at < index.files.length; at += sliceRows) {
    const isLast = at + sliceRows >= index.files.length;
    await report({ rows: index.files.slice(at, at + sliceRows), summary: isLast ? summary : undefined });
  }
  return summary;
}

/** The thread's side of {@link OnWritten}: the index, then where its pack lies. */
export async function offerWritten(
  index: BundleIndex,
  writtenPack: string,
  report: SendReport<BundleReport>,
): Promise<void> {
  const summary = await handOver(index, report);
  await report({ writtenPack, summary });
}

export function summaryOf({ digest, pages, sizeBytes, notes, report }: BundleIndex): BundleSummary {
  return { digest, pages, sizeBytes, notes, ...(report !== undefined && { report }) };
}
