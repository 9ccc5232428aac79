// Whether the page's own search works where it is read. Refuses to take anything over then. The builder of the index knows the files of
// the site, and says in the program what they mean; the page says whether it shows such a search.

import type { OwnSearch } from '../../own-search.ts';
import { searchBoxes } from './known-boxes.ts';

/** Broad: a search that is not recognised costs a reader less than keys which no longer open it. */
const anySearch = `${searchBoxes},[role="search"],[type="search"],[aria-label*="search" i],[placeholder*="search" i],[href*="search.html"]`;

export function worksOnPage(ownSearch: OwnSearch): boolean {
  if (ownSearch === 'none' || (ownSearch === 'served' && location.protocol === 'file:')) return false;
  return document.querySelector(anySearch) !== null;
}
