// The files of a search, as they lie in `_sx/search/`: what the builder writes, and what a browser and a server read. Every file is a
// classic script that calls `sxSearch(name, text)` once, with JSON as text: so it loads over HTTP, under a strict policy and from a
// disk. Imports nothing, because a browser loads it. Invariant: a file other than the manifest is named by the hash of its content.

/** Below this folder of a site. */
export const searchFolder = '_sx/search/';
/** Path of the manifest. Its name in `sxSearch` is {@link manifestName}. */
export const manifestPath = '_sx/search/index.js';
/** Path of the program for readers of the site. */
export const searchProgramPath = '_sx/search/search.js';
export const manifestName = 'index';
/** Of {@link SearchManifest}; a reader of another format finds nothing. */
export const searchFormat = 1;

/** Path of a file by its name: 16 digits of its hash. Load it as UTF-8, whatever the page is. */
export const searchFilePath = (name: string): string => `${searchFolder}${name}.js`;

/** What `index.js` holds. The only file whose content changes under its name. */
export interface SearchManifest {
  readonly format: typeof searchFormat;
  /** Of pages that name no language; searched from pages in a language that has no index. A key of `languages`. */
  readonly defaultLanguage: string;
  /** By language in lower case without script and region: `en`, `zh`. Empty for a site without a page to find. */
  readonly languages: Readonly<Record<string, LanguageFiles>>;
  /** Whether the site's own links name `.html` files, so that addresses of results do so too. */
  readonly linksToFiles: boolean;
}

/** The index of one language. */
export interface LanguageFiles {
  readonly pages: number;
  /** Name of the file with {@link TitlesFile}: the first tier, loaded when a reader is about to type. */
  readonly titles: string;
  /**
   * Files with {@link TermsFile}, sorted: the first term of each, and its name. A term is in the last file whose first term is not
   * greater, by UTF-16 code units.
   */
  readonly terms: readonly (readonly [firstTerm: string, name: string])[];
  /** Files with {@link TextsFile}, sorted: the ordinal of the first page of each, and its name. */
  readonly texts: readonly (readonly [firstPage: number, name: string])[];
}

/**
 * First tier: titles and headings. A page's ordinal is its position in `paths`.
 *
 * Postings are one text for each term, see `postings.ts`; empty where no page has the term there.
 */
export interface TitlesFile {
  /** Of files, in the order of paths, without leading slash: `guide/index.html`. */
  readonly paths: readonly string[];
  readonly titles: readonly string[];
  /** Sorted by UTF-16 code units. */
  readonly terms: readonly string[];
  readonly inTitle: readonly string[];
  readonly inHeadings: readonly string[];
  /** For each page the number of different terms of its text, as numbers of `postings.ts`. */
  readonly lengths: string;
}

/** Second tier: the text of pages, terms of one range of letters. Loaded when a reader types such a term. */
export interface TermsFile {
  readonly terms: readonly string[];
  /** Postings with frequencies. */
  readonly inText: readonly string[];
}

/** What results show: the sections of consecutive pages. Loaded for the pages that are shown. */
export interface TextsFile {
  readonly pages: readonly (readonly StoredSection[])[];
}

/** `anchor` without `#`, and empty where the section cannot be addressed; `heading` is empty in front of the first one. */
export type StoredSection = readonly [heading: string, anchor: string, text: string];
