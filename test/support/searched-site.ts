// A site in memory with all files of a search, as `bundle search` and `spec.transform.search` make it.

import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createPackWriter } from '#bundle/store/pack.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { planSearchable, type SearchablePlan } from '#site/search/searchable-site.ts';
import { makeSearchFiles } from '#site/search-program/make-search.ts';
import { type MemorySite, memoryBundle } from './memory-bundle.ts';
import { temporaryFolder } from './temporary-folder.ts';

export async function searchedSite(t: TestContext, site: MemorySite): Promise<SearchablePlan> {
  const path = join(temporaryFolder(t), 'pack');
  const writer = createPackWriter(path);
  const pack = {
    sink: writer,
    open: async (index: StoredBundle['index']) => {
      writer.finish();
      return openPack(path, index, undefined);
    },
  };
  const { signal } = new AbortController();
  const plan = await planSearchable(memoryBundle(site), makeSearchFiles, pack, signal);
  t.after(() => plan.close());
  return plan;
}
