// The index of one language in memory: lists of terms, and the pages that have wanted ones. Postings stay as text until a query meets their
// term. Scores are those of BM25+ with the constants of MiniSearch. Refuses ordinals of pages that the site does not have, and to read
// more postings than a limit. Invariant: what is found depends on the titles and on the given files alone, in any order.

import { decodeFrequencies, decodeNumbers, decodePages, type Posting } from './postings.ts';
import type { TermsFile, TitlesFile } from './search-format.ts';
import { eachNearTerm, positionOf, rangeOfPrefix } from './term-lists.ts';

/** How much a term of the index says about a page that has it. */
export interface WantedTerm {
  readonly term: string;
  readonly weight: number;
  /** One bit for each word of the query that it stands for. */
  readonly units: number;
}

export interface MatchedPage {
  readonly page: number;
  score: number;
  /** Bits of the words that the page has. */
  units: number;
  /** How many of the terms its title has. */
  inTitle: number;
}

export interface MatchedPages {
  /** In no order. */
  readonly pages: readonly MatchedPage[];
  /** The wanted terms that a page has. */
  termsOf(page: number): ReadonlySet<string>;
}

export interface PageIndex {
  /** Different terms of a page's title. */
  titleLength(page: number): number;
  /** @param files of terms, in any order */
  withTexts(files: readonly TermsFile[]): TextIndex;
}

/** Titles, headings, and the texts of some files of terms. */
export interface TextIndex {
  /** Whether a title or a heading has the term. */
  hasInTitle(term: string): boolean;
  /** Those of titles and headings first, then those of texts. A term of both comes twice. */
  withPrefix(prefix: string): Iterable<string>;
  /** By term the letters in which it differs. */
  near(term: string, maxDistance: number): ReadonlyMap<string, number>;
  /** Stops at a limit of postings: rare terms are read first, and those that only begin as a word or are near it last. */
  find(wanted: Iterable<WantedTerm>): MatchedPages;
}

interface Field {
  readonly weight: number;
  readonly lengths: ArrayLike<number>;
  readonly averageLength: number;
  readonly decode: (postings: string) => readonly Posting[];
}

/** The postings of a term in one field, as text. */
interface PostingList {
  readonly field: Field;
  readonly postings: string;
}

export function createPageIndex(titles: TitlesFile): PageIndex {
  const pages = titles.paths.length;
  const titleField = fieldOf(5, titleLengths(titles), decodePages);
  const headingsField = fieldOf(2, new Uint8Array(pages).fill(1), decodePages);
  const textField = fieldOf(1, decodeNumbers(titles.lengths), decodeFrequencies);

  const listsOf = (term: string, files: readonly TermsFile[]): readonly PostingList[] => {
    const at = positionOf(titles.terms, term);
    const found = [
      { field: titleField, postings: titles.inTitle[at] ?? '' },
      { field: headingsField, postings: titles.inHeadings[at] ?? '' },
    ];
    for (const { terms, inText } of files) {
      found.push({ field: textField, postings: inText[positionOf(terms, term)] ?? '' });
    }
    return found.filter(({ postings }) => postings !== '');
  };
  return {
    titleLength: (page) => titleField.lengths[page] ?? 0,
    withTexts: (texts) => {
      const files = texts.toSorted((a, b) => ((a.terms[0] ?? '') < (b.terms[0] ?? '') ? -1 : 1));
      const lists = [titles.terms, ...files.map(({ terms }) => terms)];
      return {
        hasInTitle: (term) => positionOf(titles.terms, term) >= 0,
        *withPrefix(prefix) {
          for (const terms of lists) {
            const { from, to } = rangeOfPrefix(terms, prefix);
            for (let at = from; at < to; at += 1) yield terms[at] ?? '';
          }
        },
        near: (term, maxDistance) => {
          const found = new Map<string, number>();
          for (const terms of lists) {
            eachNearTerm(terms, term, maxDistance, (at, distance) => found.set(terms[at] ?? '', distance));
          }
          return found;
        },
        find: (wanted) => {
          const found = new Map<number, MatchedPage>();
          const read: { readonly term: string; readonly pages: readonly Posting[] }[] = [];
          const all = Array.from(wanted, (one) => ({ ...one, lists: listsOf(one.term, files) }));
          for (const one of withinLimit(all)) {
            for (const { field, postings } of one.lists) {
              const known = field.decode(postings).filter(({ page }) => page < pages);
              if (known.length === 0) continue;
              read.push({ term: one.term, pages: known });
              addScores(found, one, field, known, { pages, isTitle: field === titleField });
            }
          }
          return {
            pages: [...found.values()],
            termsOf: (page) => new Set(read.flatMap((one) => (hasPage(one.pages, page) ? [one.term] : []))),
          };
        },
      };
    },
  };
}

interface ListedTerm extends WantedTerm {
  readonly lists: readonly PostingList[];
}

/** Characters of postings that one query reads; a posting has one or two. A letter begins a thousand terms. */
const maxRead = 100_000;
/** What a word of the query itself, or another form of it, has at least. */
const ownWeight = 0.5;

/** In the order in which they came. The first one is always read. */
function withinLimit(terms: readonly ListedTerm[]): readonly ListedTerm[] {
  const sizeOf = ({ lists }: ListedTerm): number =>
    lists.reduce((sum, { postings }) => sum + postings.length, 0);
  const classOf = ({ weight }: WantedTerm): number => (weight >= ownWeight ? 0 : 1);
  const kept = new Set<ListedTerm>();
  let size = 0;
  for (const one of terms.toSorted((a, b) => classOf(a) - classOf(b) || sizeOf(a) - sizeOf(b))) {
    if (size > maxRead) break;
    size += sizeOf(one);
    kept.add(one);
  }
  return terms.filter((one) => kept.has(one));
}

/** BM25+: how soon more of a term says no more, what a long page takes off, and what any page has at least. */
const [saturation, lengthEffect, leastEffect] = [1.2, 0.7, 0.5];

interface ScoreContext {
  /** Of the site. */
  readonly pages: number;
  readonly isTitle: boolean;
}

function addScores(
  found: Map<number, MatchedPage>,
  { weight, units }: WantedTerm,
  field: Field,
  postings: readonly Posting[],
  { pages, isTitle }: ScoreContext,
): void {
  const { lengths, averageLength } = field;
  const rarity = Math.log(1 + (pages - postings.length + 0.5) / (postings.length + 0.5));
  const full = weight * field.weight * rarity;
  for (const { page, frequency } of postings) {
    const ofLength = 1 - lengthEffect + (lengthEffect * (lengths[page] ?? 0)) / averageLength;
    const score = full * (leastEffect + (frequency * (saturation + 1)) / (frequency + saturation * ofLength));
    const known = found.get(page);
    if (known === undefined) {
      found.set(page, { page, score, units, inTitle: isTitle ? 1 : 0 });
    } else {
      known.score += score;
      known.units |= units;
      if (isTitle) known.inTitle += 1;
    }
  }
}

/** By halves: postings are in the order of pages. */
function hasPage(postings: readonly Posting[], page: number): boolean {
  let [low, high] = [0, postings.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((postings[middle]?.page ?? 0) < page) low = middle + 1;
    else high = middle;
  }
  return postings[low]?.page === page;
}

function fieldOf(weight: number, lengths: ArrayLike<number>, decode: Field['decode']): Field {
  let sum = 0;
  for (let page = 0; page < lengths.length; page += 1) sum += lengths[page] ?? 0;
  return { weight, lengths, decode, averageLength: Math.max(1, sum / Math.max(1, lengths.length)) };
}

function titleLengths({ paths, inTitle }: TitlesFile): Uint16Array {
  const lengths = new Uint16Array(paths.length);
  for (const encoded of inTitle) {
    let page = 0;
    for (const distance of decodeNumbers(encoded)) {
      page += distance;
      lengths[page] = (lengths[page] ?? 0) + 1;
    }
  }
  return lengths;
}
