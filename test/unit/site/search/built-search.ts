// A search over pages that a test writes: built as a server builds it, and read as a browser reads it.

import { readSearchScript } from '#site/search/file-writer.ts';
import { makeSearchIndex } from '#site/search/search-files.ts';
import { type SearchManifest, searchFilePath } from '#site/search/search-format.ts';
import { loadManifest, openSearchIndex, searchedLanguage } from '#site/search/search-index.ts';
import type { LoadSearchFile, SearchAnswer } from '#site/search/search-results.ts';
import { type MemorySite, memoryBundle } from '../../../support/memory-bundle.ts';

export interface BuiltSearch {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly manifest: SearchManifest;
  readonly load: LoadSearchFile;
  /** @param language as a page declares it */
  find(query: string, language?: string): Promise<SearchAnswer>;
}

export async function builtSearch(site: MemorySite): Promise<BuiltSearch> {
  const files = new Map<string, Buffer>();
  const { signal } = new AbortController();
  for await (const { path, bytes } of makeSearchIndex(memoryBundle(site), { signal })) {
    files.set(path, Buffer.from(bytes));
  }
  const load: LoadSearchFile = async (name) => {
    const text = readSearchScript(files.get(searchFilePath(name))?.toString() ?? '');
    if (text === undefined) throw new Error(`no file ${name}`);
    return text;
  };
  const manifest = await loadManifest(load);
  if (manifest === undefined) throw new Error('the manifest has another format');
  const find = async (query: string, language = ''): Promise<SearchAnswer> => {
    const index = await openSearchIndex(load, manifest, searchedLanguage(manifest, language));
    return index.search(query, 10);
  };
  return { files, manifest, load, find };
}
