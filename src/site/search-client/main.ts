// The program that each page of a site with a search loads: finds the site by its own address, and starts the search there. The
// composition root of this folder. Refuses to run twice in one page.

import type { OwnSearch } from '../own-search.ts';
import { browserTimers } from './page/browser-timers.ts';
import { elementName } from './search-element.ts';
import { startSearch } from './search-start.ts';

/** Written into the text of the program by the builder of the index. */
declare const ownSearchOfSite: OwnSearch;
/** Written there when the program is bundled. */
declare const engineNameOfSite: string;

const script = document.currentScript;
if (script instanceof HTMLScriptElement && customElements.get(elementName) === undefined) {
  startSearch({
    // A base that comes behind the script changes what its `src` reads as.
    site: new URL('../../', new URL(script.getAttribute('src') ?? '', location.href)),
    engineName: engineNameOfSite,
    ownSearch: ownSearchOfSite,
    timers: browserTimers,
  });
}
