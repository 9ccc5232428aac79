// What has arrived so far, in whatever order: for progress, and for the limits that must end a crawl in the middle
// of a wave. Decides nothing about the site; that is the frontier's, when the wave is settled.

import { documentPath } from './bundle-path.ts';
import type { CrawlLimits, CrawlProgress } from './contract.ts';
import { tooManyBytes, tooManyPages } from './crawl-error.ts';
import { type Frontier, isNotFoundPage, type Outcome, type Visit } from './frontier.ts';

export interface Arrivals {
  startWave(wave: readonly Visit[]): void;
  /** Before the body is kept. @throws {CrawlError} TooManyBytes */
  addBytes(sizeBytes: number): void;
  /** @throws {CrawlError} TooManyPages */
  finish(visit: Visit, outcome: Outcome): void;
}

export function createArrivals(
  limits: Pick<CrawlLimits, 'maxBytes' | 'maxPages'>,
  frontier: Frontier,
  onProgress: (progress: CrawlProgress) => void,
): Arrivals {
  const pages = new Set<string>();
  /** Paths of pages that this wave's bodies lead to and the frontier has not heard of yet. */
  const ahead = new Set<string>();
  let sizeBytes = 0;
  let openVisits = 0;
  const report = (): void =>
    onProgress({ pageCount: pages.size, discovered: pages.size + openVisits + ahead.size });
  return {
    startWave: (wave) => {
      openVisits = wave.filter(({ isPage }) => isPage).length;
      ahead.clear();
      report();
    },
    addBytes: (size) => {
      sizeBytes += size;
      if (sizeBytes > limits.maxBytes) throw tooManyBytes(limits.maxBytes);
    },
    finish: ({ address, isPage }, outcome) => {
      if (!isPage) return;
      openVisits -= 1;
      if (outcome.kind === 'stored' && outcome.isDocument) {
        if (!isNotFoundPage(address)) pages.add(documentPath(address) ?? address.path);
        if (pages.size > limits.maxPages) throw tooManyPages(limits.maxPages, address.path);
        for (const { use, address: to } of outcome.links.links) {
          if (use === 'page' && !frontier.visits.has(to.path)) ahead.add(to.path);
        }
      }
      report();
    },
  };
}
