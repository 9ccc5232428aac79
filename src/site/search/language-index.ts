// The index of one language while it is built, page by page. Holds titles, terms and postings, and the texts of one file; all other texts
// are handed over. Refuses words beyond its bounds. Invariant: the same pages in the same order give the same files.

import { type PageText, shownTitle } from '../pages/page-text.ts';
import { createFileWriter, type NamedFile } from './file-writer.ts';
import { noPostings, type PostingChains } from './posting-chains.ts';
import { encodeFrequencies, encodeNumbers, encodePages, frequencyClass } from './postings.ts';
import type { LanguageFiles, StoredSection, TermsFile, TitlesFile } from './search-format.ts';
import { siteTitles } from './site-titles.ts';
import { eachWord, isOwnTerm, termsOfWord } from './terms.ts';

/** Characters of the JSON of one file, about. A word of a query loads one of terms, and a result one of texts. */
const termsFileLength = 32 * 1024;
const shortestTextsFile = 16 * 1024;
/** The manifest names all files, and each reader loads it: it names about 2,000 files of texts at most. */
const textsLengthForPage = 4;
/** Different words of one site. What comes later is found by its other words. */
const maxTerms = 1_000_000;
/** Words whose terms are remembered; most words of a page are among the first of its site. */
const maxKnownWords = 200_000;

export interface LanguageIndex {
  /** @returns a file of texts that is full */
  add(path: string, page: PageText): NamedFile | undefined;
  /** Ends the index. @returns the files that remain, and what the manifest says of all of them */
  finish(): { readonly files: Iterable<NamedFile>; readonly manifest: () => LanguageFiles };
  readonly pages: number;
}

interface TermEntry {
  readonly term: string;
  /** The page that is being counted, and how often it has the term. */
  page: number;
  count: number;
  /** Postings: page × 4 + class of its frequency. */
  inText: number;
  /** Postings: pages. */
  inHeadings: number;
}

/**
 * @param sitePages of all languages, which decides how large files of texts are
 * @param postings of all languages, which share one limit
 */
export function createLanguageIndex(
  language: string,
  sitePages: number,
  postings: PostingChains,
): LanguageIndex {
  const textsFileLength = Math.max(shortestTextsFile, textsLengthForPage * sitePages);
  const entries = new Map<string, TermEntry>();
  const known = new Map<string, readonly TermEntry[]>();
  const paths: string[] = [];
  const titles: { readonly shown: string; readonly full: string }[] = [];
  const lengths: number[] = [];
  const texts: [number, string][] = [];
  let open: { readonly first: number; readonly pages: StoredSection[][]; length: number } | undefined;

  const entryOf = (term: string): TermEntry | undefined => {
    const entry = entries.get(term);
    if (entry !== undefined || entries.size >= maxTerms) return entry;
    const made: TermEntry = { term, page: -1, count: 0, inText: noPostings, inHeadings: noPostings };
    entries.set(term, made);
    return made;
  };
  const entriesOf = (word: string): readonly TermEntry[] => {
    const found = known.get(word);
    if (found !== undefined) return found;
    const own = ownText(word);
    const made = termsOfWord(own, language).flatMap((term) => entryOf(term) ?? []);
    if (known.size >= maxKnownWords) known.clear();
    known.set(own, made);
    return made;
  };
  const eachEntry = (word: string, visit: (entry: TermEntry) => void): void => {
    if (!isOwnTerm(word)) {
      for (const entry of entriesOf(word)) visit(entry);
      return;
    }
    const entry = entries.get(word) ?? entryOf(ownText(word));
    if (entry !== undefined) visit(entry);
  };
  const close = (entry: TermEntry): void => {
    if (entry.count > 0)
      entry.inText = postings.append(entry.inText, entry.page * 4 + frequencyClass(entry.count));
    entry.count = 0;
  };
  /** @returns the number of different terms */
  const addCounts = (counts: ReadonlyMap<string, number>, page: number): number => {
    let different = 0;
    for (const [word, count] of counts) {
      eachEntry(word, (entry) => {
        if (entry.page !== page) {
          close(entry);
          entry.page = page;
        }
        if (entry.count === 0) different += 1;
        entry.count += count;
      });
    }
    return different;
  };
  const addHeading = (heading: string, page: number): void => {
    eachWord(heading, language, (word) => {
      eachEntry(word, (entry) => {
        if (postings.last(entry.inHeadings) !== page)
          entry.inHeadings = postings.append(entry.inHeadings, page);
      });
    });
  };
  const fullTexts = (): NamedFile | undefined => {
    if (open === undefined) return undefined;
    const file = writeFile({ pages: open.pages });
    texts.push([open.first, file.name]);
    open = undefined;
    return file;
  };
  const writeFile = createFileWriter();
  return {
    get pages() {
      return paths.length;
    },
    add: (path, page) => {
      const ordinal = paths.push(path) - 1;
      titles.push({ shown: shownTitle(page), full: page.title });
      // A page has most of its words many times, and the index has millions of others.
      const counts = new Map<string, number>();
      const countWords = (text: string): void => {
        eachWord(text, language, (word) => counts.set(word, (counts.get(word) ?? 0) + 1));
      };
      open ??= { first: ordinal, pages: [], length: 0 };
      open.pages.push(page.sections.map(({ heading, id = '', text }) => [heading, id, text]));
      for (const { heading, text } of page.sections) {
        addHeading(heading, ordinal);
        countWords(text);
        open.length += heading.length + text.length;
      }
      countWords(page.description);
      lengths.push(addCounts(counts, ordinal));
      return open.length >= textsFileLength ? fullTexts() : undefined;
    },
    finish: () => {
      const sorted = [...entries.values()].sort((a, b) => (a.term < b.term ? -1 : 1));
      for (const entry of sorted) close(entry);
      const terms: [string, string][] = [];
      let first: NamedFile | undefined;
      function* files(): Generator<NamedFile> {
        const last = fullTexts();
        if (last !== undefined) yield last;
        for (const file of termsFiles(sorted, postings)) {
          const written = writeFile(file);
          terms.push([file.terms[0] ?? '', written.name]);
          yield written;
        }
        first = writeFile(
          titlesFile({ language, paths, titles: siteTitles(titles), lengths }, sorted, postings),
        );
        yield first;
      }
      return {
        files: files(),
        manifest: () => ({ pages: paths.length, titles: first?.name ?? '', terms, texts }),
      };
    },
  };
}

function* termsFiles(
  sorted: readonly TermEntry[],
  postings: Pick<PostingChains, 'read'>,
): Generator<TermsFile> {
  let terms: string[] = [];
  let inText: string[] = [];
  let length = 0;
  for (const entry of sorted) {
    if (entry.inText === noPostings) continue;
    const encoded = encodeFrequencies(postings.read(entry.inText));
    terms.push(entry.term);
    inText.push(encoded);
    length += entry.term.length + encoded.length + 6;
    if (length < termsFileLength) continue;
    yield { terms, inText };
    [terms, inText, length] = [[], [], 0];
  }
  if (terms.length > 0) yield { terms, inText };
}

interface IndexedPages {
  readonly language: string;
  readonly paths: readonly string[];
  readonly titles: readonly string[];
  readonly lengths: readonly number[];
}

function titlesFile(
  { language, paths, titles, lengths }: IndexedPages,
  sorted: readonly TermEntry[],
  postings: Pick<PostingChains, 'read'>,
): TitlesFile {
  const inTitle = new Map<string, number[]>();
  for (const [page, title] of titles.entries()) {
    eachWord(title, language, (word) => {
      for (const term of termsOfWord(word, language)) {
        const pages = inTitle.get(term) ?? [];
        if (pages.at(-1) !== page) pages.push(page);
        inTitle.set(term, pages);
      }
    });
  }
  const inHeadings = new Map(
    sorted
      .filter((entry) => entry.inHeadings !== noPostings)
      .map((entry) => [entry.term, postings.read(entry.inHeadings)]),
  );
  const terms = [...new Set([...inTitle.keys(), ...inHeadings.keys()])].sort((a, b) => (a < b ? -1 : 1));
  return {
    paths,
    titles,
    terms,
    inTitle: terms.map((term) => encodePages(inTitle.get(term) ?? [])),
    inHeadings: terms.map((term) => encodePages(inHeadings.get(term) ?? [])),
    lengths: encodeNumbers(lengths),
  };
}

/** A part of a page's text would keep all of it. */
const ownText = (part: string): string => Buffer.from(part).toString();
