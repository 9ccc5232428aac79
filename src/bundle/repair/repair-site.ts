// What the rules of a repair know of a site: its paths, its pages, and the address under which a bundle server answers each.
// Pure. Invariant: an address that is found here is answered with a page, and not with a redirect.

import { composedForm } from '#platform/wire/unicode-form.ts';
import { isHiddenFile } from '../store/hidden-files.ts';

/** A file of the site as it will be written. */
export interface RepairSiteFile {
  readonly path: string;
  readonly size: number;
  /** An `.html` file that holds JSON is not a page. */
  readonly isData?: true | undefined;
}

export interface RepairSite {
  readonly paths: ReadonlySet<string>;
  /** Whether some tool's index for a search without a server is there. */
  readonly hasSearchIndex: boolean;
  /**
   * The address under which a server answers what was meant.
   *
   * @param path decoded, with its leading slash
   */
  servedAddress(path: string): string | undefined;
}

const page = /\.x?html?$/i;

export function isPage({ path, isData }: Pick<RepairSiteFile, 'path' | 'isData'>): boolean {
  return isData !== true && page.test(path) && !isHiddenFile(path);
}

/**
 * By the files that each tool writes; a folder of any name, language or version may hold them. Broad, because a box that stays
 * and finds nothing costs a reader less than a search that works and is hidden.
 */
const searchIndexes: readonly RegExp[] = [
  // Pagefind, also in `_pagefind` of Nextra 4.
  /(?:^|\/)pagefind-entry\.json$/,
  // MkDocs, HonKit, Rspress, Zola.
  /(?:^|\/)search(?:_plus)?_index[^/]{0,100}\.js(?:on)?$/,
  // Javadoc.
  /(?:^|\/)(?:member|type|package|module|tag)-search-index\.(?:js|zip)$/,
  // Docusaurus and its local searches, Orama; Antora, rustdoc.
  /(?:^|\/)(?:orama-)?(?:search-index|lunr-index|search-doc)[^/]{0,100}\.json(?:\.gz)?$/,
  /(?:^|\/)search-index[\d.]{0,20}\.js$/,
  // Nextra before its version 4.
  /(?:^|\/)nextra-data-[^/]{1,40}\.json$/,
  // VitePress.
  /(?:^|\/)@localSearchIndex[^/]{0,200}\.js$/,
  // Hugo, with a language in front and a hash behind; Jekyll, Quarto, ExDoc, Doxygen.
  /(?:^|\/)(?:search|[^/]{0,100}search[-_]?data[^/]{0,100})\.json$/,
  /(?:^|\/)search_?data(?:-[^/]{1,100})?\.js$/,
  // Sphinx, and mdBook with a hash.
  /(?:^|\/)searchindex[^/]{0,100}\.js(?:on)?$/,
  // Fumadocs.
  /(?:^|\/)api\/search(?:\.json)?$/,
];
/** Of Hugo and DocFX. Other data files have the name too, but not next to a home page of a site, a language or a version. */
const homeIndex = /^(?:[^/]{1,100}\/){0,3}index\.json$/;

function isSearchIndex(path: string, paths: ReadonlySet<string>): boolean {
  if (searchIndexes.some((index) => index.test(path))) return true;
  return homeIndex.test(path) && paths.has(path.replace(/json$/, 'html'));
}

export function describeSite(files: readonly RepairSiteFile[]): RepairSite {
  const shown = files.filter(({ path }) => !isHiddenFile(path));
  const known = new Set(shown.map(({ path }) => composedForm(`/${path}`)));
  const pages = new Set(shown.filter(isPage).map(({ path }) => composedForm(`/${path}`)));
  /** As the route table finds it; a redirect is not found. */
  const answers = (path: string): boolean =>
    known.has(path) || pages.has(path.endsWith('/') ? `${path}index.html` : `${path}.html`);
  const paths = new Set(files.map(({ path }) => path));
  return {
    paths,
    hasSearchIndex: shown.some(({ path }) => isSearchIndex(path, paths)),
    servedAddress: (path) => {
      const composed = composedForm(path);
      if (answers(composed)) return path;
      const bare = (text: string): string => text.replace(/\/$/, '');
      const withoutEnding = (text: string): string => text.replace(/(?:\.html?|\/index(?:\.html?)?)$/i, '');
      const meant = [bare(path), withoutEnding(bare(path))];
      return meant.flatMap((one) => [`${one}/`, one]).find((one) => one !== '' && answers(composedForm(one)));
    },
  };
}

/** With all escaped that an address, XML or an attribute reserves. */
export const encodedSitePath = (path: string): string =>
  path
    .split('/')
    .map((segment) => encodeURIComponent(segment.toWellFormed()).replaceAll("'", '%27'))
    .join('/');
