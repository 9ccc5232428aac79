// Starts the search in a page: joins element, panel, session and index. Owns which index results are of. Refuses to read a clock, and to
// send what a reader types to another host.

import type { OwnSearch } from '../own-search.ts';
import { searchFilePath } from '../search/search-format.ts';
import { worksOnPage } from './page/own-search-check.ts';
import type { PageTimers } from './page/page-timers.ts';
import { createScriptFiles } from './script-files.ts';
import { createSearchElement, pageLanguage, placeElement } from './search-element.ts';
import type { OpenedIndex } from './search-engine.ts';
import { createSearchPanel } from './search-panel.ts';
import { createSearchSession } from './search-session.ts';
import { createSiteIndex } from './site-index.ts';
import { missingReportAddress } from './zero-results.ts';

export interface StartDependencies {
  /** Of the site, with the slash at its end. */
  readonly site: URL;
  /** Of the file that holds the engine. */
  readonly engineName: string;
  readonly ownSearch: OwnSearch;
  readonly timers: PageTimers;
}

export function startSearch({ site, engineName, ownSearch, timers }: StartDependencies): void {
  const { host, root } = createSearchElement();
  const files = createScriptFiles(root);
  let opened: OpenedIndex | undefined;
  const index = createSiteIndex({
    load: (name, address) => files.load(name, new URL(address, site)),
    open: async (load, language) => {
      const engine = await files.loadEngine(new URL(searchFilePath(engineName), site));
      opened = await engine.open(load, language);
      return opened.index;
    },
  });
  const session = createSearchSession({
    openIndex: () => index.open(pageLanguage()),
    timers,
    show: (view) => panel.show(view),
    reportMissing: (query) => {
      const address = missingReportAddress(site, query);
      // Whether a server counts it is not the reader's concern.
      if (address !== undefined) window.fetch(address, { keepalive: true }).catch(() => {});
    },
  });
  const panel = createSearchPanel({
    addressOf: (result) => {
      const address = opened?.addressOf(result, site.protocol === 'file:') ?? result.path;
      return new URL(address, site).href;
    },
    onType: session.type,
    onClose: session.settle,
  });
  const isQuiet = (): boolean => worksOnPage(ownSearch);
  placeElement({ host, root, panel, timers, isQuiet, prepare: session.prepare });
}
