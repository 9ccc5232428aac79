// Composition root of the thread that prepares bundles, or copies one from a peer. Started by src/bundle (preparation.ts,
// copying.ts). Each task loads only what it needs: a file on disk needs no HTTP client. Of the environment it reads only
// the usual proxy variables.

import process from 'node:process';
import {
  type BundleReport,
  type BundleSummary,
  handOver,
  type OnWritten,
  offerWritten,
  summaryOf,
} from '#bundle/bundle-task.ts';
import type { PeerCopyTask } from '#bundle/peer/copying.ts';
import type { PrepareTask } from '#bundle/prepare/preparation.ts';
import { readProxySettings } from '#platform/http/proxy-settings.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { type SendReport, serveTasks } from '#platform/runtime/task.ts';

serveTasks(work);

async function work(
  task: PrepareTask | PeerCopyTask,
  report: SendReport<BundleReport>,
): Promise<BundleSummary> {
  const context = {
    clock: systemClock,
    proxy: readProxySettings(process.env),
    onProgress: (progress: BundleReport): void => void report(progress),
  };
  switch (task.task) {
    case 'copy': {
      const { runPeerCopy } = await import('#bundle/peer/copy-run.ts');
      return handOver(await runPeerCopy(task, context), report);
    }
    case 'prepare': {
      const { runPreparation } = await import('#bundle/prepare/preparation-run.ts');
      let isOffered = false;
      const offer: OnWritten = (index, packPath) => {
        isOffered = true;
        return offerWritten(index, packPath, report);
      };
      const index = await runPreparation(task, task.wantsFiles ? { ...context, offer } : context);
      return task.wantsFiles && !isOffered ? handOver(index, report) : summaryOf(index);
    }
  }
}
