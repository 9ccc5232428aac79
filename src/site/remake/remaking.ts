// A site that is made of another one, repaired, portable or with more files, in a thread, because the site chose how large and how odd its pages are.
// Owns the tasks, the thread and its limits; remake-run.ts is its side of the work. Invariant: the new content comes as a pack, so
// that the main thread reads no page.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { RepairPlan } from '#bundle/repair/repair.ts';
import type { RuleModes } from '#bundle/repair/rule-modes.ts';
import { runTask } from '#platform/runtime/task.ts';
import type { PortableOptions, PortablePlan } from '../portable/portable-site.ts';
import type { SearchablePlan } from '../search/searchable-site.ts';

interface RemakeTask {
  readonly packPath: string;
  readonly index: BundleIndex;
  /** Where the pack of the new content is written. Absent: nothing is written. */
  readonly toPath: string | undefined;
}

export interface RepairSiteTask extends RemakeTask {
  readonly task: 'repair-site';
  readonly modes: RuleModes;
}

export interface MakePortableTask extends RemakeTask, PortableOptions {
  readonly task: 'make-portable';
}

export interface AddMarkdownTask extends RemakeTask {
  readonly task: 'add-markdown';
  readonly toPath: string;
  /** As a user writes it. */
  readonly basePath: string;
  /** Of the site, for links with https; `undefined`: they begin at the root. */
  readonly origin: string | undefined;
}

export interface AddSearchTask extends RemakeTask {
  readonly task: 'add-search';
  readonly toPath: string;
}

/** What was planned, without the files. */
export type AddedSearch = Pick<
  SearchablePlan,
  'isChanged' | 'linedPages' | 'withoutLine' | 'languages' | 'searchBytes'
>;

/** Paths. */
export interface AddedFiles {
  /** Of files that were made. */
  readonly added: readonly string[];
  /** Pages that are too large to be read, and the first of them. */
  readonly leftOut: { readonly count: number; readonly examples: readonly string[] };
}

export type RepairedOutcome = Omit<RepairPlan, 'files'>;
export type PortableOutcome = Omit<PortablePlan, 'files'>;

export interface RemadeSite<Outcome> {
  readonly outcome: Outcome;
  /** Of the new content, and of its pack where that is written. */
  readonly index: BundleIndex;
}

/** Files that were read. */
export interface RemakeProgress {
  readonly files: number;
  readonly of: number;
}

interface RemakeContext {
  readonly signal: AbortSignal;
  readonly onProgress: (at: RemakeProgress) => void;
}

/** Positions of the largest page that is read take most of it. */
const limits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

export type AnyRemakeTask = RepairSiteTask | MakePortableTask | AddMarkdownTask | AddSearchTask;

interface Outcomes {
  readonly 'repair-site': RepairedOutcome;
  readonly 'make-portable': PortableOutcome;
  readonly 'add-markdown': AddedFiles;
  readonly 'add-search': AddedSearch;
}

export type AnyRemadeSite = RemadeSite<Outcomes[AnyRemakeTask['task']]>;

/**
 * @param program of the thread (`src/bin/site-worker.ts`, or where the build put it)
 * @throws {PublishableError} of the thread; the signal's reason
 */
export function remakeInThread<Task extends AnyRemakeTask>(
  program: URL,
  task: Task,
  { signal, onProgress }: RemakeContext,
): Promise<RemadeSite<Outcomes[Task['task']]>> {
  const options = { limits, signal, onReport: onProgress };
  return runTask<Task, RemadeSite<Outcomes[Task['task']]>, RemakeProgress>(program, task, options);
}
