// Hashes of the pages of a bundle, by their text: read in a thread, because a site chose how large and how odd its pages are.
// Owns the thread and its limits; page-hashes-run.ts is its side of the work.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import { runTask } from '#platform/runtime/task.ts';

export interface PagesTask {
  readonly task: 'hash-pages';
  readonly packPath: string;
  readonly index: BundleIndex;
}

export interface PagesProgress {
  readonly pages: number;
}

/** By the path of the file. */
export type PageHashes = ReadonlyMap<string, string>;

const limits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };
/**
 * @param program of the thread (`src/bin/site-worker.ts`, or where the build put it)
 * @throws {PublishableError} of the thread; the signal's reason
 */
export function readPageHashes(
  program: URL,
  task: Omit<PagesTask, 'task'>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (at: PagesProgress) => void },
): Promise<PageHashes> {
  return runTask<PagesTask, PageHashes, PagesProgress>(
    program,
    { ...task, task: 'hash-pages' },
    { limits, signal, onReport: onProgress },
  );
}
