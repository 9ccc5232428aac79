// The search of a site in the thread that answers agents: of files that the server made for readers, or made from the bundle in memory.
// Its languages are opened as they are asked for. Refuses more bytes than a limit: the thread has a memory of its own, and reads pages in
// it. Knows no address of a visitor.

import type { MakeContext } from '#bundle/made-files.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { SearchFiles } from '#server/mcp/mcp-task.ts';
import { readSearchScript } from '../search/file-writer.ts';
import { makeSearchIndex } from '../search/search-files.ts';
import {
  manifestName,
  manifestPath,
  type SearchManifest,
  searchFilePath,
  searchFolder,
  searchFormat,
  type TitlesFile,
} from '../search/search-format.ts';
import { loadManifest, openSearchIndex, searchedLanguage } from '../search/search-index.ts';
import type { LoadSearchFile, SearchIndex } from '../search/search-results.ts';

export interface SiteSearch {
  readonly pages: number;
  /** Titles by paths of files. */
  readonly titles: ReadonlyMap<string, string>;
  /** @param language as a caller names it; `undefined`: that of most pages. @returns the index of the nearest language that there is */
  open(language: string | undefined): Promise<SearchIndex>;
}

/** Of all files of a search; 50,000 pages have about half of it. */
export const maxSearchBytes: number = 200 * 1024 * 1024;
/** Opened languages that stay open. */
const mostOpen = 3;

/**
 * Takes seconds where there are no files yet: it reads every page.
 *
 * @param made files that are there already, or will be
 * @throws {PublishableError} `SearchTooLarge`; the signal's reason; what reading the bundle throws
 */
export async function openSiteSearch(
  bundle: StoredBundle,
  made: Promise<SearchFiles | undefined> | undefined,
  context: MakeContext,
  mostBytes: number = maxSearchBytes,
): Promise<SiteSearch> {
  const found = await made?.catch(() => undefined);
  context.signal.throwIfAborted();
  if (found !== undefined) {
    const bytes = found.sizeOf(searchFolder);
    if (bytes > mostBytes) throw tooLarge(mostBytes);
    if (bytes === 0 && found.features.includes('search')) return searchWithout;
    const opened = await searchOf((path) => found.read(path)).catch(() => undefined);
    if (opened !== undefined) return opened;
    // Damaged files cost agents a making of their own, and never their search.
  }
  return makeSiteSearch(bundle, context, mostBytes);
}

async function makeSiteSearch(
  bundle: StoredBundle,
  context: MakeContext,
  mostBytes: number,
): Promise<SiteSearch> {
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  for await (const file of makeSearchIndex(bundle, context)) {
    bytes += file.bytes.length;
    if (bytes > mostBytes) throw tooLarge(mostBytes);
    files.set(file.path, file.bytes);
  }
  return searchOf((path) => files.get(path));
}

function tooLarge(mostBytes: number): PublishableError {
  const most = `${Math.round(mostBytes / 1024 / 1024)} MiB`;
  const message = `the search of this site takes more than ${most}; agents list and read pages`;
  return new PublishableError('SearchTooLarge', message);
}

async function searchOf(read: SearchFiles['read']): Promise<SiteSearch> {
  const load: LoadSearchFile = async (name) =>
    textOf(read(name === manifestName ? manifestPath : searchFilePath(name)));
  const manifest = await loadManifest(load);
  if (manifest === undefined) throw new Error('the search of this program has another format');
  return searchOfTitles(manifest, await readTitles(manifest, load), load);
}

function searchOfTitles(
  manifest: SearchManifest,
  titles: SiteSearch['titles'],
  load: LoadSearchFile,
): SiteSearch {
  const opened = new Map<string, Promise<SearchIndex>>();
  return {
    pages: titles.size,
    titles,
    open: (language) => {
      const chosen = searchedLanguage(manifest, language ?? manifest.defaultLanguage);
      const index = opened.get(chosen) ?? openSearchIndex(load, manifest, chosen);
      opened.delete(chosen);
      opened.set(chosen, index);
      const [oldest] = opened.keys();
      if (opened.size > mostOpen && oldest !== undefined) opened.delete(oldest);
      return index;
    },
  };
}

async function readTitles(
  manifest: SearchManifest,
  load: LoadSearchFile,
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  for (const { titles: name } of Object.values(manifest.languages)) {
    const file: TitlesFile = JSON.parse(await load(name));
    for (const [at, path] of file.paths.entries()) titles.set(path, file.titles[at] ?? '');
  }
  return titles;
}

/** Of a site whose pages all ask to be left out: readers get no file of a search, and agents find nothing. */
const searchWithout: SiteSearch = searchOfTitles(
  { format: searchFormat, defaultLanguage: 'en', languages: {}, linksToFiles: false },
  new Map(),
  async () => textOf(undefined),
);

function textOf(bytes: Uint8Array | undefined): string {
  const text = readSearchScript(Buffer.from(bytes ?? []).toString('utf8'));
  if (text === undefined) throw new Error('a file of the search is missing');
  return text;
}
