// The thread's choice among the ways to make a site of another one: repaired, portable, with Markdown, with a search. Owns the list of
// tasks. Invariant: a task without its way does not compile.

import type { SendReport } from '#platform/runtime/task.ts';
import { remakeWithMarkdown, remakeWithSearch } from './added-files-run.ts';
import { makeSitePortable, repairSite } from './remake-run.ts';
import type { AnyRemadeSite, AnyRemakeTask, RemakeProgress } from './remaking.ts';

/** @throws what reading the pack and writing the other one throw */
export function remakeSite(task: AnyRemakeTask, report: SendReport<RemakeProgress>): Promise<AnyRemadeSite> {
  switch (task.task) {
    case 'repair-site':
      return repairSite(task, report);
    case 'make-portable':
      return makeSitePortable(task, report);
    case 'add-markdown':
      return remakeWithMarkdown(task, report);
    case 'add-search':
      return remakeWithSearch(task, report);
    default:
      return task satisfies never;
  }
}
