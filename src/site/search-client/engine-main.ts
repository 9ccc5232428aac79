// The program that reads the index, which the element loads when a reader is about to search. A composition root: it joins the reader of
// the index with the one global name of the search. Refuses to run without the element.

import { resultAddress } from '../search/result-address.ts';
import { loadManifest, openSearchIndex, searchedLanguage } from '../search/search-index.ts';
import type { SearchEngine } from './search-engine.ts';

const engine: SearchEngine = {
  open: async (load, language) => {
    const manifest = await loadManifest(load);
    if (manifest === undefined) throw new Error('the index has the format of another version');
    const { linksToFiles } = manifest;
    return {
      index: await openSearchIndex(load, manifest, searchedLanguage(manifest, language)),
      addressOf: ({ path, anchor }, isDisk) => resultAddress(path, anchor, { isDisk, linksToFiles }),
    };
  },
};
if (window.sxSearch !== undefined) window.sxSearch.engine = engine;
