// One whole export: crawls the site, opens it in a browser if it is asked to, then packs it into its archive. Owns the request and the result of an export, for
// the job runner and for both sides of its thread. Refuses a site that is not complete. Invariant: an export that resolves has
// left a whole archive at its destination.

import type { BrowserReport } from '#bundle/site-report.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { requireComplete } from './crawler/completeness.ts';
import type {
  AnswerCounts,
  CrawlContext,
  CrawlRequest,
  CrawlResult,
  SiteProfile,
} from './crawler/contract.ts';
import type { PackedSite } from './crawler/pack.ts';
import { withDocuments } from './crawler/report.ts';
import { portableResult } from './portable-export.ts';

export interface SiteExportRequest extends CrawlRequest {
  /** File path of the archive; its folder must exist. */
  readonly destination: string;
  /** Form of the site in its archive. Absent: `rooted`. */
  readonly profile?: SiteProfile | undefined;
  /** Path of a Chromium that opens every page before the site is packed. Absent: none does. */
  readonly browser?: string | undefined;
}

export interface Exported extends PackedSite {
  readonly pageCount: number;
  readonly answers: AnswerCounts;
  /** Bodies that the next crawl can use, in the spool directory; 0 where there is none. */
  readonly keptBytes: number;
}

export interface ExportContext extends CrawlContext {
  /** The crawl is over and its time limit with it; packing begins. */
  readonly onCrawled: () => void;
  /** Gets the process of a browser while it runs, and then `undefined`. */
  readonly onBrowser?: (pid: number | undefined) => void;
}

/** Settles soon after the signal aborts, with the signal's reason. A thread is ended for it. */
export type SiteExport = (request: SiteExportRequest, context: ExportContext) => Promise<Exported>;

export type Crawl = (request: CrawlRequest, context: CrawlContext) => Promise<CrawlResult>;
export type Pack = (
  result: Pick<CrawlResult, 'files'>,
  destination: string,
  signal: AbortSignal,
) => Promise<PackedSite>;
/** Reduces the spool directory to what the next crawl can use. @returns its bytes */
export type Keep = (request: CrawlRequest) => Promise<number>;

/** Opens the pages of a crawled site in a browser. */
export type Verify = (
  result: Pick<CrawlResult, 'files' | 'types'>,
  request: SiteExportRequest & { readonly browser: string },
  context: ExportContext,
) => Promise<BrowserReport>;

/** Puts an export together from its parts. */
export function exportWith(crawl: Crawl, pack: Pack, keep: Keep, verify: Verify): SiteExport {
  return async (request, context) => {
    const { logger, onProgress, signal } = context;
    const crawled = await crawl(request, context);
    const { pageCount, answers } = crawled;
    if (pageCount === 0) throw new PublishableError('NoPages', 'the site has no pages');
    requireComplete(crawled, request.domain, request.limits);
    onProgress({ pageCount, discovered: pageCount });
    context.onCrawled();
    const isPortable = request.profile === 'portable';
    const result = isPortable ? await portableResult(crawled, request, signal) : crawled;
    for (const { code, count, example } of result.notes) {
      logger.info({ note: code, count, example }, 'crawl note');
    }
    logger.info({ ...answers }, 'answers of the crawl, by source');
    const { browser } = request;
    const found = browser === undefined ? undefined : await verify(result, { ...request, browser }, context);
    const packed = await pack({ files: withDocuments(result, found) }, request.destination, signal);
    const keptBytes = await keep(request).catch((error: unknown) => {
      logger.warn({ error: publishableCode(error) }, 'the next crawl has to download every body');
      return 0;
    });
    return { pageCount, answers, keptBytes, ...packed };
  };
}
