// Opens every page of a site, some at once, and puts together what happened. Owns the order, the bounds and the total time. Pure
// but for the visitor of a page. Invariant: the same findings give the same report, whichever page is open first.

import { type BrowserReport, maxReportText } from '#bundle/site-report.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { PageFindings } from './page-record.ts';

export interface VisitedPage {
  /** In the bundle. */
  readonly path: string;
  /** Percent-encoded, with the base path. */
  readonly address: string;
}

/** @throws where no further page can be opened */
export type VisitPage = (page: VisitedPage) => Promise<PageFindings>;

export interface VerificationLimits {
  readonly pagesAtOnce: number;
  /** Pages that are not open by then are counted as not opened. */
  readonly totalMs: number;
}

export const defaultVerificationLimits: VerificationLimits = { pagesAtOnce: 2, totalMs: 30 * 60 * 1000 };

/** Of one list of the report. */
const maxListed = 50;
/** Different texts that one list distinguishes. */
const maxTold = 20_000;

/**
 * @param onPage after each page, with how many are done
 * @throws what a visit throws, and the signal's reason
 */
export async function verifyPages(
  pages: readonly VisitedPage[],
  visit: VisitPage,
  limits: VerificationLimits,
  clock: Pick<Clock, 'monotonic'>,
  signal: AbortSignal,
  onPage: (done: number) => void = () => {},
): Promise<BrowserReport> {
  const offSite = createTextTally();
  const errors = createTextTally();
  /** Findings of pages that an earlier page still holds back. */
  const held = new Map<number, PageFindings>();
  const until = clock.monotonic() + limits.totalMs;
  let next = 0;
  let merged = 0;
  let done = 0;
  let hasFailed = false;
  const merge = (): void => {
    for (let found = held.get(merged); found !== undefined; found = held.get(merged)) {
      const from = printable(pages[merged]?.path ?? '', maxReportText);
      for (const address of found.offSite) offSite.add(address, from);
      for (const message of found.errors) errors.add(message, from);
      held.delete(merged);
      merged += 1;
    }
  };
  const visitNext = async (): Promise<void> => {
    while (!hasFailed && clock.monotonic() < until) {
      signal.throwIfAborted();
      const number = next;
      const page = pages[number];
      if (page === undefined) return;
      next += 1;
      held.set(number, await visit(page));
      merge();
      done += 1;
      onPage(done);
    }
  };
  const openings = Array.from({ length: limits.pagesAtOnce }, () =>
    visitNext().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  // A page that is open still uses the browser.
  const failed = (await Promise.allSettled(openings)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return {
    pages: done,
    notOpened: pages.length - done,
    offSiteRequests: offSite.list((address, rest) => ({ address, ...rest })),
    consoleErrors: errors.list((message, rest) => ({ message, ...rest })),
  };
}

interface TextCount {
  readonly from: string;
  readonly pages: number;
}

function createTextTally() {
  const told = new Map<string, { readonly from: string; pages: number }>();
  let untold = 0;
  return {
    /** At most once for each page. */
    add: (text: string, from: string): void => {
      const known = told.get(text);
      if (known !== undefined) known.pages += 1;
      else if (told.size < maxTold) told.set(text, { from, pages: 1 });
      else untold += 1;
    },
    list: <T>(entry: (text: string, rest: TextCount) => T): { count: number; entries: T[] } => ({
      count: told.size + untold,
      entries: [...told.entries().take(maxListed)].map(([text, rest]) => entry(text, rest)),
    }),
  };
}
