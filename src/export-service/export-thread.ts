// The driver of the thread that exports a site. What a site sends is read there and nowhere else: however large or
// hostile it is, the thread that answers clients reads only short messages. Owns the thread, its time and its memory.
// Refuses: waiting for a thread. At the crawl's time limit, and when the caller aborts, the thread ends in the middle
// of whatever it does. Invariant: when an export has settled, its thread is gone, and a broken one left no archive.

import { rm } from 'node:fs/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { CrawlError, crawlTimedOut } from './crawler/crawl-error.ts';
import { partialFile } from './crawler/partial-file.ts';
import { type ExportReport, errorOf, orderOf, readReport } from './export-message.ts';
import type { ExportEdge, Exported, ExportRequest, SiteExport } from './site-export.ts';

export interface ExportThreadOptions {
  /** `src/bin/crawl-worker.ts`, or where the build put it. */
  readonly program: URL;
  /** Objects and strings of the thread. */
  readonly maxHeapMb?: number;
}

/** What a site of the largest size allowed needs, with some room; see "Memory" of the chart. */
const defaultMaxHeapMb = 256;
/** With less, a crawl takes a tenth more of the processor's time. */
const maxYoungHeapMb = 48;

/** Exports each site in a thread of its own. */
export function exportInThread({ program, maxHeapMb = defaultMaxHeapMb }: ExportThreadOptions): SiteExport {
  return async (request, edge) => {
    edge.signal.throwIfAborted();
    const resourceLimits: ResourceLimits = {
      maxOldGenerationSizeMb: maxHeapMb,
      maxYoungGenerationSizeMb: maxYoungHeapMb,
    };
    const thread = new Worker(program, { workerData: orderOf(request), resourceLimits });
    const settled = new AbortController();
    try {
      return await converse(thread, request, edge, settled.signal, maxHeapMb);
    } catch (error) {
      await thread.terminate();
      await rm(partialFile(request.destination), { force: true });
      throw error;
    } finally {
      settled.abort();
      await thread.terminate();
    }
  };
}

function converse(
  thread: Worker,
  { domain, limits }: ExportRequest,
  edge: ExportEdge,
  settled: AbortSignal,
  maxHeapMb: number,
): Promise<Exported> {
  return new Promise((resolve, reject) => {
    const crawled = new AbortController();
    edge.clock.after(limits.timeoutMs, AbortSignal.any([crawled.signal, settled])).then(
      () => reject(crawlTimedOut(domain, limits.timeoutMs)),
      () => {},
    );
    const hear = (report: ExportReport): void => {
      switch (report.type) {
        case 'log':
          edge.logger[report.level](report.fields, report.message);
          break;
        case 'progress':
          edge.onProgress(report);
          break;
        case 'crawled':
          crawled.abort();
          edge.onCrawled();
          break;
        case 'done':
          resolve(report.exported);
          break;
        case 'failed':
          reject(errorOf(report));
      }
    };
    edge.signal.addEventListener('abort', () => reject(edge.signal.reason), { once: true, signal: settled });
    thread.on('message', (message: unknown) => {
      try {
        hear(readReport(message));
      } catch (error) {
        reject(error);
      }
    });
    thread.on('error', (cause) => reject(lost(cause, domain, maxHeapMb)));
    thread.on('exit', () => reject(lost(undefined, domain, maxHeapMb)));
  });
}

function lost(cause: unknown, domain: string, maxHeapMb: number): CrawlError {
  const isOutOfMemory =
    cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory
    ? new CrawlError(
        'CrawlOutOfMemory',
        `the crawl of ${domain} needed more than ${maxHeapMb} MB of memory; nothing was exported: ` +
          'unlink its largest pages or disallow them in robots.txt',
        { cause },
      )
    : new CrawlError('CrawlFailed', `the thread that crawled ${domain} ended unexpectedly`, { cause });
}
