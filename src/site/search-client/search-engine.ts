// What reads the index, as a program of its own: a page loads it when a reader is about to search, because it is as large as all of
// the element. Types only. Refuses to know the page.

import type { LoadSearchFile, SearchIndex, SearchResult } from '../search/search-results.ts';

export interface OpenedIndex {
  readonly index: SearchIndex;
  /** @param isDisk where only names of files lead anywhere @returns the address, relative to the site */
  addressOf(result: SearchResult, isDisk: boolean): string;
}

export interface SearchEngine {
  /** @param language of the page @throws what `load` throws, and where the index has another format */
  open(load: LoadSearchFile, language: string): Promise<OpenedIndex>;
}

/** The one global name of the search. Files of the index call it, and the engine adds itself to it. */
export interface SearchGlobal {
  (name: string, text: string): void;
  engine?: SearchEngine;
}

declare global {
  interface Window {
    sxSearch?: SearchGlobal;
  }
}
