// Counts the responses so far, in any order: for progress, and for the limit on pages, which must end a crawl in the
// middle of a wave. Decides nothing about the site; the frontier does that when the wave is settled. Refuses to report
// progress too early, because a home page alone does not show the site's size.

import { documentPath, folderPagePath } from '#site/site-scope.ts';
import type { CrawlLimits, CrawlProgress } from './contract.ts';
import { tooManyPages } from './crawl-error.ts';
import type { Frontier } from './frontier.ts';
import type { FetchOutcome, Visit } from './visit.ts';

/** Links of fewer pages do not show a site's size. Such a wave is reported once all its pages are fetched. */
const tellingPages = 8;

export interface Arrivals {
  startWave(wave: readonly Visit[]): void;
  /** @throws {CrawlError} TooManyPages */
  finish(visit: Visit, outcome: FetchOutcome): void;
}

export function createArrivals(
  limits: Pick<CrawlLimits, 'maxPages'>,
  frontier: Frontier,
  onProgress: (progress: CrawlProgress) => void,
): Arrivals {
  const pages = new Set<string>();
  /** Paths of pages that this wave's bodies link to and the frontier does not know yet. */
  const ahead = new Set<string>();
  let wavePages = 0;
  let openPages = 0;
  let openSitemaps = 0;
  let isSitemapAhead = false;
  const report = (): void => {
    const isWhole = openPages + openSitemaps === 0;
    const isTelling = openSitemaps === 0 && wavePages >= tellingPages;
    if (!(isWhole || isTelling) || (isSitemapAhead && ahead.size < tellingPages)) return;
    const heardPages = wavePages - openPages;
    const expected = heardPages === 0 ? 0 : Math.round((ahead.size / heardPages) * openPages);
    onProgress({ pageCount: pages.size, discovered: pages.size + openPages + ahead.size + expected });
  };
  return {
    startWave: (wave) => {
      wavePages = wave.filter(({ isPage }) => isPage).length;
      openPages = wavePages;
      openSitemaps = wave.filter(({ isPage, isSitemap }) => isSitemap && !isPage).length;
      isSitemapAhead = false;
      ahead.clear();
      report();
    },
    finish: (visit, outcome) => {
      if (visit.isPage) openPages -= 1;
      else if (visit.isSitemap) openSitemaps -= 1;
      else return;
      if (outcome.kind === 'stored') takeStored(visit, outcome);
      report();
    },
  };

  function takeStored(
    { address, isPage }: Visit,
    { body, isDocument, links }: FetchOutcome & { kind: 'stored' },
  ): void {
    if (isPage && isDocument) {
      if (frontier.isSoftNotFound(address, body)) return;
      if (!frontier.isNotFoundPage(address)) {
        pages.add(folderPagePath(documentPath(address) ?? address.path));
      }
      if (pages.size > limits.maxPages) throw tooManyPages(limits.maxPages, address.path);
    }
    for (const { use, isSitemap, address: to } of links.links) {
      if (frontier.visits.has(to.path)) continue;
      if (isSitemap) isSitemapAhead = true;
      else if (use === 'page') ahead.add(to.path);
    }
  }
}
