// What a search answers, for the browser's element and for agents. Refuses anything of a page's markup: all texts are plain.
// Imports nothing, because a browser loads it.

/** Loads one file of a search. @param name see `search-format.ts` @returns the JSON text that the file hands over @throws where it cannot be loaded */
export type LoadSearchFile = (name: string) => Promise<string>;

export interface SearchResult {
  /** Of the file, without leading slash. See `resultAddress`. */
  readonly path: string;
  /** Without `#`. Empty: the page itself. */
  readonly anchor: string;
  readonly title: MarkedText;
  /** Titles of the folders above, outermost first. */
  readonly breadcrumbs: readonly string[];
  /** Heading of the section that fits; empty: the page itself. */
  readonly heading: MarkedText;
  /** Of the section; empty until the texts are loaded. */
  readonly excerpt: MarkedText;
}

/** A text, and the ranges of it that the query found: `[from, to)` in UTF-16 code units, in order and apart. */
export interface MarkedText {
  readonly text: string;
  readonly marks: readonly (readonly [from: number, to: number])[];
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** All pages that match; `results` holds the best. */
  readonly count: number;
  /** A file of the index could not be loaded: there may be more. */
  readonly isPartial?: true;
}

/** One language of one site, open for searches. */
export interface SearchIndex {
  /** As the manifest names it. */
  readonly language: string;
  /** By titles and headings, from what is loaded: at once. Results have no excerpt and no heading. */
  searchTitles(query: string, limit: number): SearchAnswer;
  /**
   * By titles, headings and texts, with excerpts. Loads what it needs; a file that cannot be loaded leaves out what it holds.
   *
   * @throws the signal's reason
   */
  search(query: string, limit: number, signal?: AbortSignal): Promise<SearchAnswer>;
}
