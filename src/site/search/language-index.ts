// The index of one language while it is built, page by page. Holds titles, terms and postings, and the texts of one file; all other texts
// are handed over. Refuses words beyond its bounds. Invariant: the same pages in the same order give the same files.

import { type PageText, shownTitle } from '../pages/page-text.ts';
import { createFileWriter, type NamedFile } from './file-writer.ts';
import { encodeFrequencies, encodeNumbers, encodePages, frequencyClass } from './postings.ts';
import type { LanguageFiles, StoredSection, TermsFile, TitlesFile } from './search-format.ts';
import { siteTitles } from './site-titles.ts';
import { eachWord, termsOfWord } from './terms.ts';

/** Characters of the JSON of one file of terms or texts, about. */
const termsFileLength = 96 * 1024;
const textsFileLength = 128 * 1024;
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

/** Postings of a term: page × 4 + class of its frequency. The last page is being counted. */
interface TermEntry {
  readonly term: string;
  page: number;
  count: number;
  readonly inText: number[];
  readonly inHeadings: number[];
}

export function createLanguageIndex(language: string): LanguageIndex {
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
    const made: TermEntry = { term, page: -1, count: 0, inText: [], inHeadings: [] };
    entries.set(term, made);
    return made;
  };
  const entriesOf = (word: string): readonly TermEntry[] => {
    const found = known.get(word);
    if (found !== undefined) return found;
    const made = termsOfWord(word, language).flatMap((term) => entryOf(term) ?? []);
    if (known.size >= maxKnownWords) known.clear();
    // A part of a page's text would keep all of it.
    known.set(Buffer.from(word).toString(), made);
    return made;
  };
  const close = (entry: TermEntry): void => {
    if (entry.count > 0) entry.inText.push(entry.page * 4 + frequencyClass(entry.count));
    entry.count = 0;
  };
  const addText = (text: string, page: number): number => {
    let different = 0;
    eachWord(text, language, (word) => {
      for (const entry of entriesOf(word)) {
        if (entry.page !== page) {
          close(entry);
          entry.page = page;
        }
        if (entry.count === 0) different += 1;
        entry.count += 1;
      }
    });
    return different;
  };
  const addHeading = (heading: string, page: number): void => {
    eachWord(heading, language, (word) => {
      for (const { inHeadings } of entriesOf(word)) if (inHeadings.at(-1) !== page) inHeadings.push(page);
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
      let different = 0;
      open ??= { first: ordinal, pages: [], length: 0 };
      open.pages.push(page.sections.map(({ heading, id = '', text }) => [heading, id, text]));
      for (const { heading, text } of page.sections) {
        addHeading(heading, ordinal);
        different += addText(text, ordinal);
        open.length += heading.length + text.length;
      }
      different += addText(page.description, ordinal);
      lengths.push(different);
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
        for (const file of termsFiles(sorted)) {
          const written = writeFile(file);
          terms.push([file.terms[0] ?? '', written.name]);
          yield written;
        }
        first = writeFile(titlesFile(language, paths, siteTitles(titles), sorted, lengths));
        yield first;
      }
      return {
        files: files(),
        manifest: () => ({ pages: paths.length, titles: first?.name ?? '', terms, texts }),
      };
    },
  };
}

function* termsFiles(sorted: readonly TermEntry[]): Generator<TermsFile> {
  let terms: string[] = [];
  let inText: string[] = [];
  let length = 0;
  for (const entry of sorted) {
    if (entry.inText.length === 0) continue;
    const encoded = encodeFrequencies(entry.inText);
    terms.push(entry.term);
    inText.push(encoded);
    length += entry.term.length + encoded.length + 6;
    if (length < termsFileLength) continue;
    yield { terms, inText };
    [terms, inText, length] = [[], [], 0];
  }
  if (terms.length > 0) yield { terms, inText };
}

function titlesFile(
  language: string,
  paths: readonly string[],
  titles: readonly string[],
  sorted: readonly TermEntry[],
  lengths: readonly number[],
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
    sorted.filter((entry) => entry.inHeadings.length > 0).map((entry) => [entry.term, entry.inHeadings]),
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
