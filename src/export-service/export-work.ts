// The thread's side of an export: does the one order it was started with and reports over its port.
// Refuses nothing by itself: its driver ends it at the time limit, or when the export is aborted.

import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { type ExportReport, failureOf, readOrder } from './export-message.ts';
import type { SiteExport } from './site-export.ts';

/** Never rejects: the failure is the last report. */
export async function runExportOrder(
  data: unknown,
  port: MessagePort,
  exportSite: SiteExport,
  clock: Clock,
): Promise<void> {
  const report = (message: ExportReport): void => port.postMessage(message);
  try {
    const exported = await exportSite(readOrder(data), {
      clock,
      logger: loggerTo(report),
      onProgress: ({ pageCount, discovered }) => report({ type: 'progress', pageCount, discovered }),
      onCrawled: () => report({ type: 'crawled' }),
      signal: new AbortController().signal,
    });
    report({ type: 'done', exported });
  } catch (error) {
    report(failureOf(error));
  }
}

/** Written by the driver, which knows the job and the level. Fields are plain data, never errors. */
function loggerTo(report: (message: ExportReport) => void, bound: object = {}): Logger {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void =>
      report({ type: 'log', level, fields: { ...bound, ...fields }, message });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => loggerTo(report, { ...bound, ...fields }),
  };
}
