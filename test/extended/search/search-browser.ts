// The browser of a file of tests about the search: started before its tests, closed after them. Opens pages that have the search.
// Refuses to skip where there is no browser.

import { after, before } from 'node:test';
import { type Browser, noBrowser, type Page, type PageOptions, startBrowser } from '../../support/browser.ts';
import { requireHere } from '../requirement.ts';
import { openPageWithSearch } from './search-page.ts';

export interface SearchBrowser {
  /** @returns a new page, with the element in it */
  open(address: URL, options?: PageOptions): Promise<Page>;
  /** In the same browser, for what a test does beyond the search. */
  browser(): Browser;
}

export function searchBrowser(start: () => Promise<Browser> = startBrowser): SearchBrowser {
  requireHere(noBrowser);
  let started: Browser | undefined;
  const browser = (): Browser => {
    if (started === undefined) throw new Error('the browser starts with the first test');
    return started;
  };
  before(async () => {
    started = await start();
  });
  after(() => started?.close());
  return {
    browser,
    open: async (address, options) => {
      const page = await browser().openPage(options);
      await openPageWithSearch(page, address);
      return page;
    },
  };
}
