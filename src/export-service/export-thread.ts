// Both sides of an export in a worker thread. Only that thread reads what a site sends, however large or hostile it is.
// The thread that answers clients reads only short messages, and none grows with the site. Refuses to wait for a
// thread. At the crawl's time limit, and when the caller aborts, the thread is stopped at once. Invariant: when an
// export has settled, its thread and its browser are gone, and a failed one left no archive.

import { rm } from 'node:fs/promises';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { runTask, type SendReport, serveTasks, taskErrorCode } from '#platform/runtime/task.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { endBrowser } from '#site/browser/browser-process.ts';
import type { CrawlProgress } from './crawler/contract.ts';
import { partialFile } from './crawler/contract.ts';
import { crawlTimedOut } from './crawler/crawl-error.ts';
import type { Exported, SiteExport, SiteExportRequest } from './site-export.ts';

/** What a site of the largest size allowed needs, with some room; see "Memory" of the chart. */
const defaultMaxHeapMb = 256;
/** What drives a browser, on top of it. */
const browserHeapMb = 128;
/** With less, a crawl takes a tenth more of the processor's time. */
const maxYoungHeapMb = 48;

/** An {@link SiteExportRequest} as it crosses: a URL does not. */
type ExportTask = Omit<SiteExportRequest, 'origin'> & { readonly origin: string };

type LogLevel = 'debug' | 'info' | 'warn' | 'error';
type ExportReport =
  | { readonly type: 'log'; readonly level: LogLevel; readonly fields: object; readonly message: string }
  | ({ readonly type: 'progress' } & CrawlProgress)
  | { readonly type: 'crawled' }
  | { readonly type: 'browser'; readonly pid: number | undefined };

/**
 * Exports each site in a thread of its own.
 *
 * @param program `src/bin/crawl-worker.ts`, or where the build put it
 * @param maxHeapMb for objects and strings of the thread
 */
export function exportInThread(program: URL, maxHeapMb = defaultMaxHeapMb): SiteExport {
  return async (request, { clock, logger, onProgress, onCrawled, signal }) => {
    const { domain, destination, browser } = request;
    const limits = {
      maxOldGenerationSizeMb: maxHeapMb + (browser === undefined ? 0 : browserHeapMb),
      maxYoungGenerationSizeMb: maxYoungHeapMb,
    };
    let browserPid: number | undefined;
    const { timeoutMs } = request.limits;
    const crawled = new AbortController();
    const late = new AbortController();
    clock.after(timeoutMs, crawled.signal).then(
      () => late.abort(crawlTimedOut(domain, timeoutMs)),
      () => {},
    );
    const task: ExportTask = { ...request, origin: request.origin.href };
    try {
      return await runTask<ExportTask, Exported, ExportReport>(program, task, {
        limits,
        signal: AbortSignal.any([signal, late.signal]),
        onReport: (report) => {
          if (report.type === 'log') logger[report.level](report.fields, report.message);
          else if (report.type === 'progress') onProgress(report);
          else if (report.type === 'browser') browserPid = report.pid;
          else {
            crawled.abort();
            onCrawled();
          }
        },
      });
    } catch (error) {
      await rm(partialFile(destination), { force: true });
      throw crawlErrorOf(error, domain, maxHeapMb);
    } finally {
      crawled.abort();
      if (browserPid !== undefined) endBrowser(browserPid);
    }
  };
}

/** The thread's side: it is ended at the time limit, or when the export is aborted. */
export function serveExports(exportSite: SiteExport, clock: Clock): void {
  serveTasks<ExportTask, Exported, ExportReport>((task, report) =>
    exportSite(
      { ...task, origin: new URL(task.origin) },
      {
        clock,
        logger: loggerTo(report),
        onProgress: ({ pageCount, discovered }) => void report({ type: 'progress', pageCount, discovered }),
        onCrawled: () => void report({ type: 'crawled' }),
        onBrowser: (pid) => void report({ type: 'browser', pid }),
        signal: new AbortController().signal,
      },
    ),
  );
}

/** Written by the starter, which knows the job and the level. Fields are plain data, never errors. */
function loggerTo(report: SendReport<ExportReport>, bound: object = {}): Logger {
  const write =
    (level: LogLevel) =>
    (fields: object, message: string): void =>
      void report({ type: 'log', level, fields: { ...bound, ...fields }, message });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => loggerTo(report, { ...bound, ...fields }),
  };
}

/** @returns an error of the crawl itself, as it is */
function crawlErrorOf(cause: unknown, domain: string, maxHeapMb: number): unknown {
  const code = taskErrorCode(cause);
  if (code === undefined) return cause;
  return code === 'TaskOutOfMemory'
    ? new PublishableError(
        'CrawlOutOfMemory',
        `the crawl of ${domain} needed more than ${maxHeapMb} MB of memory; nothing was exported: ` +
          'unlink its largest pages or disallow them in robots.txt',
        { cause },
      )
    : new PublishableError('CrawlFailed', `the thread that crawled ${domain} ended unexpectedly`, { cause });
}
