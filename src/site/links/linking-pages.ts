// Which pages of a bundle link to addresses that the site does not have. In a thread, because the site chose how large and how
// odd its pages are. Owns the task, the thread and its limits; linking-pages-run.ts is its side of the work.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import { runTask } from '#platform/runtime/task.ts';

export interface LinkingPagesTask {
  readonly task: 'find-linking-pages';
  readonly packPath: string;
  readonly index: BundleIndex;
  /** Decoded, with the base path, without query. */
  readonly addresses: readonly string[];
  /** Decoded, without trailing slash; empty for none. */
  readonly basePath: string;
  /** Of the site, in lower case: a link that names one of them is one of the site. */
  readonly hosts: readonly string[];
}

/** Pages that link to one address. */
export interface LinkingPages {
  readonly count: number;
  /** Addresses of the first ones, in the order of their files. */
  readonly examples: readonly string[];
}

export interface LinkingPagesProgress {
  readonly pages: number;
}

/** By address; one that no page links to is not in it. */
export type LinkingPagesByAddress = ReadonlyMap<string, LinkingPages>;

const limits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

/**
 * @param program of the thread (`src/bin/site-worker.ts`, or where the build put it)
 * @throws {PublishableError} of the thread; the signal's reason
 */
export function findLinkingPages(
  program: URL,
  task: Omit<LinkingPagesTask, 'task'>,
  {
    signal,
    onProgress,
  }: { readonly signal: AbortSignal; readonly onProgress: (at: LinkingPagesProgress) => void },
): Promise<LinkingPagesByAddress> {
  return runTask<LinkingPagesTask, LinkingPagesByAddress, LinkingPagesProgress>(
    program,
    { ...task, task: 'find-linking-pages' },
    { limits, signal, onReport: onProgress },
  );
}
