// Composition root of the thread that reads a site for `bundle check`, `bundle repair`, `bundle portable`, `bundle markdown`,
// `bundle search`, `export --repair`, `report` and `conversations gaps`. Started by src/site (checking.ts, remaking.ts,
// linking-pages.ts) and src/conversations (page-hashes.ts). Reads nothing of the environment.

import type { PageHashes, PagesProgress, PagesTask } from '#conversations/page-hashes.ts';
import { hashPages } from '#conversations/page-hashes-run.ts';
import { type SendReport, serveTasks } from '#platform/runtime/task.ts';
import { runSiteCheck } from '#site/check/check-run.ts';
import type { CheckedInThread, CheckSiteTask, CheckThreadReport } from '#site/check/checking.ts';
import type {
  LinkingPagesByAddress,
  LinkingPagesProgress,
  LinkingPagesTask,
} from '#site/links/linking-pages.ts';
import { runLinkingPages } from '#site/links/linking-pages-run.ts';
import { remakeSite } from '#site/remake/any-remake.ts';
import type { AnyRemadeSite, AnyRemakeTask, RemakeProgress } from '#site/remake/remaking.ts';

type SiteTask = CheckSiteTask | LinkingPagesTask | PagesTask | AnyRemakeTask;
type SiteReport = CheckThreadReport | RemakeProgress | LinkingPagesProgress | PagesProgress;
type SiteAnswer = CheckedInThread | LinkingPagesByAddress | PageHashes | AnyRemadeSite;

serveTasks((task: SiteTask, report: SendReport<SiteReport>): Promise<SiteAnswer> => {
  switch (task.task) {
    case 'check-site':
      return runSiteCheck(task, report);
    case 'find-linking-pages':
      return runLinkingPages(task, report);
    case 'hash-pages':
      return hashPages(task, report);
    default:
      return remakeSite(task, report);
  }
});
