// The index of the site for the language of a page, and which manifest is in use. Where a file that a manifest names is gone, because
// the server has a newer version of the site, the manifest is loaded again and the search repeated, once. Refuses to ask on and on.

import { manifestName, manifestPath, searchFilePath } from '../search/search-format.ts';
import type { LoadSearchFile, SearchIndex } from '../search/search-results.ts';

export interface SiteIndexDependencies {
  /** @param address below the root of the site @throws where it cannot be loaded */
  readonly load: (name: string, address: string) => Promise<string>;
  /** @throws what `load` throws */
  readonly open: (load: LoadSearchFile, language: string) => Promise<SearchIndex>;
}

export interface SiteIndex {
  /** @param language of the page @throws where the files of the index cannot be loaded, which the next call tries again */
  open(language: string): Promise<SearchIndex>;
}

export function createSiteIndex({ load, open }: SiteIndexDependencies): SiteIndex {
  let manifests = 0;
  /** A file that the manifest in use names could not be loaded. */
  let isStale = false;
  let opened: { readonly language: string; readonly index: Promise<SearchIndex> } | undefined;

  const openNewest = (language: string): Promise<SearchIndex> => {
    manifests += 1;
    isStale = false;
    // A browser may have kept the manifest whose files are gone.
    const manifest = manifests === 1 ? manifestPath : `${manifestPath}?again=${manifests}`;
    // Asked for at once, and not when what reads it has come.
    const first = load(manifestName, manifest);
    first.catch(() => {});
    const index = open(async (name) => {
      if (name === manifestName) return first;
      try {
        return await load(name, searchFilePath(name));
      } catch (error) {
        isStale = true;
        throw error;
      }
    }, language);
    opened = { language, index };
    // A server that has just started has no search for a moment.
    index.catch(() => {
      if (opened?.index === index) opened = undefined;
    });
    return index;
  };
  const openKnown = async (language: string): Promise<SearchIndex> => {
    try {
      return await (opened?.language === language ? opened.index : openNewest(language));
    } catch (error) {
      opened = undefined;
      if (!isStale) throw error;
      return openNewest(language);
    }
  };

  return {
    open: async (language) => {
      const index = await openKnown(language);
      return {
        language: index.language,
        searchTitles: (query, limit) => index.searchTitles(query, limit),
        search: async (query, limit, signal) => {
          const answer = await index.search(query, limit, signal);
          if (!isStale) return answer;
          const newer = await openNewest(language);
          return newer.search(query, limit, signal);
        },
      };
    },
  };
}
