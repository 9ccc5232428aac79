// The check of a site in a thread, because the site chose how large and how odd its pages are. Owns the task, the thread, its limits,
// and the end of a browser that the thread left; check-run.ts is its side of the work.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { BrowserReport } from '#bundle/site-report.ts';
import { runTask } from '#platform/runtime/task.ts';
import { endBrowser } from '#site/browser/browser-process.ts';
import type { BrowserRequest } from '#site/browser/browser-run.ts';
import type { CheckRules, SiteCheck } from './site-check.ts';

export interface CheckSiteTask extends CheckRules {
  readonly task: 'check-site';
  /** As a user writes it. */
  readonly basePath: string;
  readonly packPath: string;
  readonly index: BundleIndex;
  /** Absent: no page is opened. */
  readonly browser?: BrowserRequest | undefined;
}

export interface CheckedInThread {
  readonly check: SiteCheck;
  readonly browser?: BrowserReport | undefined;
}

export type CheckProgress =
  | { readonly files: number }
  /** Opened in the browser. */
  | { readonly pages: number; readonly of: number };

/** `undefined`: it has ended. */
export type CheckThreadReport = CheckProgress | { readonly browserPid: number | undefined };

/** Positions of the largest page that is read take most of it. */
const limits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

/**
 * @param program of the thread (`src/bin/site-worker.ts`, or where the build put it)
 * @throws {PublishableError} of the thread; the signal's reason
 */
export async function checkSiteInThread(
  program: URL,
  task: Omit<CheckSiteTask, 'task'>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (at: CheckProgress) => void },
): Promise<CheckedInThread> {
  let browserPid: number | undefined;
  const onReport = (report: CheckThreadReport): void => {
    if ('browserPid' in report) browserPid = report.browserPid;
    else onProgress(report);
  };
  try {
    return await runTask<CheckSiteTask, CheckedInThread, CheckThreadReport>(
      program,
      { ...task, task: 'check-site' },
      { limits, signal, onReport },
    );
  } finally {
    if (browserPid !== undefined) endBrowser(browserPid);
  }
}
