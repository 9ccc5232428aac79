// One whole export: crawls the site, then packs it into its archive. Owns the request and the result of an export, for
// the job runner and for both sides of its thread. Refuses a site without pages. Invariant: an export that resolves has
// left a whole archive at its destination.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { CrawlContext, CrawlRequest, CrawlResult } from './crawler/contract.ts';
import type { PackedSite } from './crawler/pack.ts';

export interface SiteExportRequest extends CrawlRequest {
  /** File path of the archive; its folder must exist. */
  readonly destination: string;
}

export interface Exported extends PackedSite {
  readonly pageCount: number;
}

export interface ExportContext extends CrawlContext {
  /** The crawl is over and its time limit with it; packing begins. */
  readonly onCrawled: () => void;
}

/** Settles soon after the signal aborts, with the signal's reason. A thread is ended for it. */
export type SiteExport = (request: SiteExportRequest, context: ExportContext) => Promise<Exported>;

export type Crawl = (request: CrawlRequest, context: CrawlContext) => Promise<CrawlResult>;
export type Pack = (result: CrawlResult, destination: string, signal: AbortSignal) => Promise<PackedSite>;

/** Puts an export together from its two halves. */
export function exportWith(crawl: Crawl, pack: Pack): SiteExport {
  return async (request, context) => {
    const { logger, onProgress, signal } = context;
    const result = await crawl(request, context);
    const { pageCount } = result;
    if (pageCount === 0) throw new PublishableError('NoPages', 'the site has no pages');
    for (const { code, count, example } of result.notes) {
      logger.info({ note: code, count, example }, 'crawl note');
    }
    onProgress({ pageCount, discovered: pageCount });
    context.onCrawled();
    const packed = await pack(result, request.destination, signal);
    return { pageCount, ...packed };
  };
}
