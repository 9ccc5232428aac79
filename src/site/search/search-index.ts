// A search over the files of a site, for the browser and for agents: opens a language, loads what a query needs, and answers. Imports
// no module of Node. Refuses files of another format. Invariants: a file that cannot be loaded costs what it holds, and not the answer;
// an answer depends on its query, and not on earlier ones.

import { chooseSection, createReadBudget, markText } from './excerpts.ts';
import { createPageIndex } from './page-index.ts';
import { beginningsOf, type QueryUnit, readQuery, wantedTerms } from './query.ts';
import { rankPages } from './ranking.ts';
import { breadcrumbsOf } from './result-address.ts';
import {
  type LanguageFiles,
  manifestName,
  type SearchManifest,
  type StoredSection,
  searchFormat,
  type TermsFile,
  type TextsFile,
  type TitlesFile,
} from './search-format.ts';
import type { LoadSearchFile, SearchAnswer, SearchIndex, SearchResult } from './search-results.ts';

/** Files of terms that one word may load. One letter begins so many that titles alone answer it. */
const maxTermFiles = 4;

/** @returns `undefined` for a manifest of another format @throws what `load` throws */
export async function loadManifest(load: LoadSearchFile): Promise<SearchManifest | undefined> {
  const manifest: SearchManifest = JSON.parse(await load(manifestName));
  return manifest.format === searchFormat ? manifest : undefined;
}

/** The language to search. @param language as a page declares it, such as `de-AT` */
export function searchedLanguage({ languages, defaultLanguage }: SearchManifest, language: string): string {
  const [primary = ''] = language.toLowerCase().split(/[-_]/);
  return Object.hasOwn(languages, primary) ? primary : defaultLanguage;
}

/**
 * Loads the first tier of a language.
 *
 * @param language as {@link searchedLanguage} says
 * @returns an index without pages where the manifest has no such language
 * @throws what `load` throws
 */
export async function openSearchIndex(
  load: LoadSearchFile,
  manifest: SearchManifest,
  language: string,
): Promise<SearchIndex> {
  const files = Object.hasOwn(manifest.languages, language) ? manifest.languages[language] : undefined;
  const titles: TitlesFile = files === undefined ? noTitles : JSON.parse(await load(files.titles));
  return createIndex(load, files, titles, language);
}

const noTitles: TitlesFile = { paths: [], titles: [], terms: [], inTitle: [], inHeadings: [], lengths: '' };

function createIndex(
  load: LoadSearchFile,
  files: LanguageFiles | undefined,
  titles: TitlesFile,
  language: string,
): SearchIndex {
  const pages = createPageIndex(titles);
  let ordinals: ReadonlyMap<string, number> | undefined;
  const titleAt = (path: string): string | undefined => {
    ordinals ??= new Map(titles.paths.map((one, ordinal) => [one, ordinal]));
    return titles.titles[ordinals.get(path) ?? -1];
  };
  const loaded = new Map<string, TermsFile>();
  const texts = createFileCache(load);

  const termFiles = (units: readonly QueryUnit[]): ReadonlySet<string> =>
    new Set(units.flatMap((unit) => termFilesOf(files?.terms ?? [], unit, language)));
  /** Files that other queries have loaded would change what is near a word. */
  const rank = (units: readonly QueryUnit[], limit: number): RankedPages => {
    const own = pages.withTexts([...termFiles(units)].flatMap((name) => loaded.get(name) ?? []));
    const found = own.find(wantedTerms(units, language, own));
    const ranked = rankPages(found.pages, units, pages.titleLength);
    const shown = ranked.slice(0, limit).map(({ page }) => ({ page, terms: found.termsOf(page) }));
    return { count: ranked.length, shown };
  };
  /** @returns whether all are there */
  const loadTerms = async (units: readonly QueryUnit[]): Promise<boolean> => {
    const wanted = termFiles(units);
    await Promise.all(
      [...wanted].map(async (name) => {
        if (loaded.has(name)) return;
        const file = await parsed<TermsFile>(load, name);
        if (file !== undefined) loaded.set(name, file);
      }),
    );
    return [...wanted].every((name) => loaded.has(name));
  };
  const withoutExcerpt = ({ page, terms }: ShownPage): SearchResult => {
    const path = titles.paths[page] ?? '';
    return {
      path,
      anchor: '',
      title: markText(titles.titles[page] ?? '', terms, language),
      breadcrumbs: breadcrumbsOf(path, titleAt),
      heading: noText,
      excerpt: noText,
    };
  };
  const sectionsOf = async ({ page }: ShownPage): Promise<readonly StoredSection[] | undefined> => {
    const at = (files?.texts ?? []).findLastIndex(([first]) => first <= page);
    const [first = 0, name = ''] = files?.texts[at] ?? [];
    return (await texts(name))?.pages[page - first];
  };
  const withExcerpts = async (ranked: readonly ShownPage[]): Promise<readonly SearchResult[]> => {
    const sections = await Promise.all(ranked.map(sectionsOf));
    const budget = createReadBudget();
    return ranked.map((one, at) => {
      const result = withoutExcerpt(one);
      const found = sections[at];
      if (found === undefined) return result;
      return { ...result, ...chooseSection(found, one.terms, result.title.text, language, budget) };
    });
  };
  return {
    language,
    searchTitles: (query, limit) => {
      const { count, shown } = rank(readQuery(query, language), limit);
      return { count, results: shown.map(withoutExcerpt) };
    },
    search: async (query, limit, signal): Promise<SearchAnswer> => {
      const units = readQuery(query, language);
      const isWhole = await loadTerms(units);
      signal?.throwIfAborted();
      const { count, shown } = rank(units, limit);
      const results = await withExcerpts(shown);
      signal?.throwIfAborted();
      return { count, results, ...(!isWhole && { isPartial: true }) };
    },
  };
}

interface ShownPage {
  readonly page: number;
  /** Terms of the index that the query found on the page. */
  readonly terms: ReadonlySet<string>;
}

interface RankedPages {
  /** Of all pages that match. */
  readonly count: number;
  readonly shown: readonly ShownPage[];
}

const noText = { text: '', marks: [] } as const;

/** The files that may hold forms of a unit. */
function termFilesOf(terms: LanguageFiles['terms'], unit: QueryUnit, language: string): readonly string[] {
  return beginningsOf(unit, language).flatMap((beginning) => {
    const from = Math.max(
      0,
      terms.findLastIndex(([first]) => first <= beginning),
    );
    const names: string[] = [];
    const most = /^[a-z0-9]$/.test(beginning) ? 1 : maxTermFiles;
    for (const [first, name] of terms.slice(from, from + most)) {
      if (names.length > 0 && !first.startsWith(beginning)) break;
      names.push(name);
    }
    return names;
  });
}

async function parsed<File>(load: LoadSearchFile, name: string): Promise<File | undefined> {
  try {
    return JSON.parse(await load(name));
  } catch {
    return undefined;
  }
}

/** Texts that are kept for the next letter that a reader types. */
const maxKeptTexts = 24;

function createFileCache(load: LoadSearchFile): (name: string) => Promise<TextsFile | undefined> {
  const kept = new Map<string, Promise<TextsFile | undefined>>();
  return async (name) => {
    if (name === '') return undefined;
    const file = kept.get(name) ?? parsed<TextsFile>(load, name);
    kept.delete(name);
    kept.set(name, file);
    const [oldest] = kept.keys();
    if (kept.size > maxKeptTexts && oldest !== undefined) kept.delete(oldest);
    if ((await file) === undefined) kept.delete(name);
    return file;
  };
}
