// Composition root of the thread that works on mirrors: it brings a bundle into a store (src/mirror/restore.ts), and copies,
// reads and looks for bundles (src/operator/services/mirrors.ts). It passes the search to copies, because the mirror does not know what
// a site is. A program of its own, because it holds the S3 library, and each
// program pays memory for text that it never runs. Of the environment it reads only the usual proxy variables and the
// identity for buckets.

import process from 'node:process';
import { type BundleReport, handOver, summaryOf } from '#bundle/bundle-task.ts';
import type { RestoreTask } from '#mirror/restore.ts';
import { readAmbientIdentity } from '#mirror/s3/ambient-identity.ts';
import type { CopyReport, MirrorTask } from '#mirror/task/mirror-task.ts';
import type { AddSearch } from '#mirror/task/transformed-content.ts';
import { readProxySettings } from '#platform/http/proxy-settings.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { type SendReport, serveTasks } from '#platform/runtime/task.ts';

serveTasks(work);

/** Loaded where a task asks for it: the readers of pages and the programs for readers are large. */
const addSearch: AddSearch = async (bundle, made, signal, onFile) => {
  const { planSearchable } = await import('#site/search/searchable-site.ts');
  const { makeSearchFiles } = await import('#site/search-program/make-search.ts');
  return planSearchable(bundle, makeSearchFiles, made, signal, onFile);
};

async function work(
  task: RestoreTask | MirrorTask,
  report: SendReport<BundleReport | CopyReport>,
): Promise<unknown> {
  const context = {
    clock: systemClock,
    proxy: readProxySettings(process.env),
    identity: readAmbientIdentity(process.env),
    addSearch,
    report: (sent: CopyReport) => report(sent),
    onProgress: (sent: BundleReport): void => void report(sent),
  };
  if (task.task !== 'restore') {
    const { runMirrorTask } = await import('#mirror/task/run-mirror-task.ts');
    return runMirrorTask(task, context);
  }
  const { runRestore } = await import('#mirror/restore-run.ts');
  const index = await runRestore(task, context);
  return task.wantsFiles ? handOver(index, report) : summaryOf(index);
}
