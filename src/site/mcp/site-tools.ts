// What the three tools answer, from one bundle: search, one page in parts, the list of pages. Knows no protocol. Refuses nothing by
// throwing: what an agent can change is a refusal in words. Invariant: an answer is within the limits of its schema.

import type { BundleFile } from '#bundle/bundle-index.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { readPageSource } from '../pages/bundle-pages.ts';
import { type PageText, readPageText, shownTitle } from '../pages/page-text.ts';
import type { MarkedText } from '../search/search-results.ts';
import { createPageDirectory, type SiteEntry } from './page-directory.ts';
import { partOf } from './page-part.ts';
import { createRecentPages } from './recent-pages.ts';
import type { SiteSearch } from './site-search.ts';
import type {
  AnsweredContent,
  ListArguments,
  ListOutput,
  ReadArguments,
  ReadOutput,
  SearchArguments,
  SearchOutput,
} from './tool-schemas.ts';

/** One page as the text that agents read. @param path of its file */
export type WritePage = (html: string, page: PageText, path: string, entry: SiteEntry) => string;

/** What an agent can change, in words. */
export interface Refusal {
  readonly refusal: string;
}

export interface ToolContext {
  readonly entry: SiteEntry;
  readonly content: AnsweredContent;
}

export interface SiteTools {
  search(asked: SearchArguments, context: ToolContext, signal: AbortSignal): Promise<SearchOutput | Refusal>;
  readPage(asked: ReadArguments, context: ToolContext): Promise<ReadOutput | Refusal>;
  listPages(asked: ListArguments, context: ToolContext): ListOutput;
}

export interface SiteToolsSource {
  readonly bundle: StoredBundle;
  /** `making` until it can be asked; `none` where it cannot be made. */
  readonly search: () => SiteSearch | 'making' | 'none';
  readonly writePage: WritePage;
}

/** Of one page: writing a longer one as text takes the thread for seconds. */
export const maxSourceBytes: number = 1024 * 1024;
const mostRecentBytes = 8 * 1024 * 1024;

interface WrittenPage {
  readonly page: PageText;
  readonly text: string;
}

export function createSiteTools({ bundle, search, writePage }: SiteToolsSource): SiteTools {
  const directory = createPageDirectory(bundle.index);
  const filesByPath = new Map(directory.files.map((file) => [file.path, file]));
  const recent = createRecentPages<WrittenPage>(mostRecentBytes);
  const write = async (file: BundleFile, entry: SiteEntry): Promise<WrittenPage> => {
    const name = `${entry.basePath}\n${file.path}`;
    const known = recent.find(name);
    if (known !== undefined) return known;
    const html = await readPageSource(bundle, file);
    const page = readPageText(html);
    const written = { page, text: writePage(html, page, file.path, entry) };
    // What was read of a page may hold its source. Characters take up to two bytes.
    recent.keep(name, written, 2 * (html.length + written.text.length));
    return written;
  };
  const titleOf = (path: string): string | undefined => {
    const made = search();
    return typeof made === 'string' ? undefined : made.titles.get(path);
  };
  return {
    search: async ({ query, limit, language }, { entry, content }, signal) => {
      const made = search();
      if (typeof made === 'string') return { refusal: withoutSearch[made] };
      const index = await made.open(language);
      const { count, results } = await index.search(query, limit, signal);
      const shown = results.map(({ path, anchor, title, breadcrumbs, heading, excerpt }) => {
        const address = directory.addressOf(filesByPath.get(path) ?? { path }, entry);
        return {
          address: anchor === '' ? address : `${address}#${encodeURIComponent(anchor)}`,
          title: cut(title),
          breadcrumbs: breadcrumbs.slice(0, 10).map((text) => text.slice(0, 200)),
          heading: cut(heading),
          excerpt: cut(excerpt),
        };
      });
      return { content, count, language: index.language, results: shown };
    },
    readPage: async ({ address, from, length }, { entry, content }) => {
      const found = directory.find(address, entry);
      if (typeof found === 'string') return { refusal: notFound[found] };
      const { file, anchor } = found;
      if (file.size > maxSourceBytes) return { refusal: tooLarge };
      const { page, text } = await write(file, entry);
      const part = partOf(text, from ?? startOf(text, page, anchor), length);
      const language = page.language === undefined ? {} : { language: page.language };
      const next = part.next === undefined ? {} : { next: part.next };
      return {
        ...{ content, address: directory.addressOf(file, entry), title: shownTitle(page) },
        ...{ description: page.description, ...language, text: part.text, from: part.from, ...next },
        length: text.length,
      };
    },
    listPages: ({ below, from, limit }, { entry, content }) => {
      const all = directory.files.map((file) => ({ file, address: directory.addressOf(file, entry) }));
      const prefix = prefixOf(below, entry);
      const listed = all.filter(({ address }) => address.startsWith(prefix));
      const pages = listed.slice(from, from + limit).map(({ file, address }) => {
        const title = titleOf(file.path);
        return title === undefined ? { address } : { address, title };
      });
      const next = from + limit < listed.length ? { next: from + limit } : {};
      return { content, count: listed.length, pages, ...next };
    },
  };
}

const withoutSearch = {
  making:
    'The search of this version is still being made. Use list_pages and read_page, or try again in a minute.',
  none: 'This version cannot be searched. Use list_pages and read_page.',
};
const notFound = {
  none: 'This site has no page at that address. Use search or list_pages to find its address.',
  'other-site': 'That address is of another site. Give the path of a page of this site.',
};

const tooLarge =
  'This page is too large to be read as text: it has more than 1 MiB. Search for what you need, or read other pages.';

const longestText = 500;
const cut = ({ text }: MarkedText): string => text.slice(0, longestText);

/** Whether the base path was written or not. */
function prefixOf(below: string, { basePath }: SiteEntry): string {
  const base = encodeURI(basePath);
  const path = below.startsWith('/') ? below : `/${below}`;
  return path === base || path.startsWith(`${base}/`) ? path : `${base}${path}`;
}

/** Where the section of that anchor begins; the start of the text where there is none. */
function startOf(text: string, { sections }: PageText, anchor: string): number {
  if (anchor === '') return 0;
  const section = sections.find(({ id }) => id === anchor);
  if (section === undefined || section.heading === '') return 0;
  const wanted = lettersOf(section.heading);
  const mark = `${'#'.repeat(section.level)} `;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end);
    if (line.startsWith(mark) && lettersOf(line) === wanted) return at;
    at += line.length + 1;
  }
  return 0;
}

/** Without what Markdown adds: marks, and the addresses of links. */
const lettersOf = (heading: string): string =>
  heading
    .slice(0, 2000)
    .replace(/\]\([^)]{0,500}\)/g, ']')
    .replace(/[^\p{L}\p{N}]+/gu, '');
