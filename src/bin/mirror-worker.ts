// Composition root of the thread that brings a bundle from a mirror into a store. Started by src/mirror/restore.ts. A program
// of its own, because it holds the S3 library, and each program pays memory for text that it never runs. Of the
// environment it reads only the usual proxy variables and the identity for buckets.

import process from 'node:process';
import { type BundleReport, type BundleSummary, handOver, summaryOf } from '../bundle/bundle-task.ts';
import { readProxySettings } from '../bundle/fetch/proxy-settings.ts';
import type { RestoreTask } from '../mirror/restore.ts';
import { runRestore } from '../mirror/restore-run.ts';
import { systemClock } from '../runtime/clock.ts';
import { type SendReport, serveTasks } from '../runtime/task.ts';
import { readAmbientIdentity } from '../s3/ambient-identity.ts';

serveTasks(work);

async function work(task: RestoreTask, report: SendReport<BundleReport>): Promise<BundleSummary> {
  const index = await runRestore(task, {
    clock: systemClock,
    proxy: readProxySettings(process.env),
    identity: readAmbientIdentity(process.env),
    onProgress: (progress) => void report(progress),
  });
  return task.wantsFiles ? handOver(index, report) : summaryOf(index);
}
