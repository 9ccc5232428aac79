// The files of a search, made from the pages of a bundle: the manifest, and for each language titles, terms and texts. Reads one page at a
// time. Refuses pages that ask to be left out. Invariant: memory holds postings and titles, and never the texts of the site.

import type { BundleFile } from '#bundle/bundle-index.ts';
import type { MadeFile, MakeContext } from '#bundle/made-files.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { pageFiles, readPageSource } from '../pages/bundle-pages.ts';
import { type PageBounds, readPageText } from '../pages/page-text.ts';
import { searchScript } from './file-writer.ts';
import { createLanguageIndex, type LanguageIndex } from './language-index.ts';
import { createPostingChains, type PostingChains } from './posting-chains.ts';
import {
  type LanguageFiles,
  manifestName,
  manifestPath,
  type SearchManifest,
  searchFormat,
} from './search-format.ts';

const bounds: PageBounds = {
  maxText: 200_000,
  maxSections: 1000,
  maxHeading: 200,
  maxLinks: 1000,
  maxRanges: 0,
};
/** A site with more has pages that declare what they are not. */
const maxLanguages = 60;

/** A maker of files: see `made-files.ts`. Includes no program for readers. Also throws `SearchTooLarge`. */
export async function* makeSearchIndex(
  bundle: StoredBundle,
  { signal, onFile, rest }: MakeContext,
): AsyncGenerator<MadeFile> {
  const files = pageFiles(bundle.index);
  const defaultLanguage = await commonLanguage(bundle, files);
  const indexes = new Map<string, LanguageIndex>();
  const postings = createPostingChains();
  const links = { files: 0, plain: 0 };
  for (const [at, file] of files.entries()) {
    signal.throwIfAborted();
    const page = readPageText(await readPageSource(bundle, file), bounds);
    for (const link of page.links) countLink(link, links);
    if (page.isIndexed) {
      const language = primaryLanguage(page.language) ?? defaultLanguage;
      const context = { defaultLanguage, pages: files.length, postings };
      const full = indexOf(indexes, language, context).add(file.path, page);
      if (full !== undefined) yield { path: full.path, bytes: full.bytes };
    }
    onFile?.(at + 1, files.length);
    await rest?.();
  }
  const languages: Record<string, LanguageFiles> = {};
  for (const [language, index] of [...indexes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { files: rest, manifest } = index.finish();
    for (const { path, bytes } of rest) {
      signal.throwIfAborted();
      yield { path, bytes };
    }
    languages[language] = manifest();
    indexes.delete(language);
  }
  const manifest: SearchManifest = {
    format: searchFormat,
    defaultLanguage,
    languages,
    linksToFiles: links.files > links.plain,
  };
  yield { path: manifestPath, bytes: searchScript(manifestName, JSON.stringify(manifest)) };
}

interface IndexesContext {
  readonly defaultLanguage: string;
  /** Of all languages. */
  readonly pages: number;
  readonly postings: PostingChains;
}

function indexOf(
  indexes: Map<string, LanguageIndex>,
  language: string,
  { defaultLanguage, pages, postings }: IndexesContext,
): LanguageIndex {
  const chosen = indexes.has(language) || indexes.size < maxLanguages ? language : defaultLanguage;
  const index = indexes.get(chosen) ?? createLanguageIndex(chosen, pages, postings);
  indexes.set(chosen, index);
  return index;
}

/** Without script and region, in lower case; `undefined` for what no browser takes as a language. */
export function primaryLanguage(declared: string | undefined): string | undefined {
  const [, primary] = /^([a-z]{2,3})(?:[-_]|$)/i.exec(declared ?? '') ?? [];
  return primary?.toLowerCase();
}

/** A page of a site or a file of it, by the ending of the link. */
function countLink(link: string, links: { files: number; plain: number }): void {
  if (/^(?:[a-z][a-z+.-]*:|\/\/|#)/i.test(link)) return;
  const [path = ''] = link.split(/[?#]/, 1);
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/\.html?$/i.test(name)) links.files += /^index\.html?$/i.test(name) ? 0 : 1;
  else if (name !== '' && !name.includes('.')) links.plain += 1;
}

const sampledPages = 200;
const startBytes = 4096;

/** The language of most pages that declare one, by a sample: pages that declare none are read as these. */
async function commonLanguage(bundle: StoredBundle, files: readonly BundleFile[]): Promise<string> {
  const counts = new Map<string, number>();
  const step = Math.max(1, Math.floor(files.length / sampledPages));
  for (let at = 0; at < files.length; at += step) {
    const file = files[at];
    if (file === undefined || file.size === 0) continue;
    const start = Buffer.alloc(Math.min(startBytes, file.size));
    await bundle.readStart(file, start);
    const [, declared] =
      /<html\b[^>]{0,1000}?\slang\s*=\s*["']?([\w-]{2,35})/i.exec(start.toString('latin1')) ?? [];
    const language = primaryLanguage(declared);
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
  return most?.[0] ?? 'en';
}
