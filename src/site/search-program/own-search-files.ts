// Whether a site has a search that works without its vendor's server, by the files that the tools write. Pure. Refuses to open an
// index: a search that stays and finds nothing costs a reader less than keys and a box that are taken from one that works.

import { describeSite, type RepairSiteFile } from '#bundle/repair/repair-site.ts';
import type { OwnSearch } from '../own-search.ts';

/** Stands for the answer in the text of the program. The generator writes it there, once. */
export const ownSearchWord = '"%own-search%"';

/** From a disk, browsers run classic scripts and refuse JSON and modules: Sphinx, mdBook, Antora, Javadoc, Doxygen, ExDoc. */
const scriptIndex =
  /(?:^|\/)(?:searchindex[^/]{0,100}|(?:\w{1,40}-)?search-index[\d.]{0,20}|search_?data[^/]{0,100})\.js$/;

export function ownSearchOf(files: readonly RepairSiteFile[]): OwnSearch {
  if (!describeSite(files).hasSearchIndex) return 'none';
  return files.some(({ path }) => scriptIndex.test(path)) ? 'anywhere' : 'served';
}
