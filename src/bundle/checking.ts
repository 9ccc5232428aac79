// Checks a stored bundle in a thread of its own and takes its index over in slices, so that neither the hashing nor
// the index of a large site keeps a request waiting. Owns the thread's life.
// Invariant: an answer is the whole index or that the copy is bad; a thread that is lost is neither.

import { Worker } from 'node:worker_threads';
import { BundleError } from './bundle-error.ts';
import type { BundleFile, BundleIndex } from './bundle-index.ts';
import { type CheckOrder, nextSlice, parseCheckReport } from './check-message.ts';

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
    const worker = new Worker(workerUrl, { workerData: order });
    try {
      return await takeIndex(worker, digest, pause);
    } finally {
      await worker.terminate();
    }
  };
}

function takeIndex(
  worker: Worker,
  digest: string,
  pause: () => Promise<void>,
): Promise<BundleIndex | undefined> {
  const files: BundleFile[] = [];
  let facts: Pick<BundleIndex, 'pages' | 'sizeBytes' | 'notes'> | undefined;
  let wanted = 0;
  return new Promise((resolve, reject) => {
    const hear = async (message: unknown): Promise<void> => {
      const report = parseCheckReport(message);
      switch (report.type) {
        case 'bad':
          return resolve(undefined);
        case 'failed':
          throw new BundleError('transient', report.code, report.message);
        case 'whole':
          facts = { pages: report.pages, sizeBytes: report.sizeBytes, notes: report.notes };
          wanted = report.files;
          break;
        case 'rows':
          for (const row of report.rows) files.push(row);
          break;
        default:
          return report satisfies never;
      }
      if (files.length >= wanted && facts !== undefined) return resolve({ digest, files, ...facts });
      await pause();
      worker.postMessage(nextSlice);
    };
    worker.on('message', (message: unknown) => {
      hear(message).catch((error: unknown) =>
        reject(error instanceof BundleError ? error : checkLost(error)),
      );
    });
    worker.on('error', (error) => reject(checkLost(error)));
    worker.on('exit', () => reject(checkLost(undefined)));
  });
}

function checkLost(cause: unknown): BundleError {
  return new BundleError(
    'transient',
    'CheckFailed',
    'the thread that checks stored bundles ended unexpectedly (out of memory, or a defect); it will be tried again',
    { cause },
  );
}
