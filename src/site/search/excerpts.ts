// What a result shows of its page: the section that has most of the query, a part of its text, and where the query's words stand. Pure.
// Refuses to read more of a page than a browser does between two frames.

import type { StoredSection } from './search-format.ts';
import type { MarkedText } from './search-results.ts';
import { eachWord, mayLackBlanks, termsOfWord } from './terms.ts';

const excerptLength = 220;
/** What stands in front of the first word that is found. */
const leadLength = 60;
/** Characters that are read of one page, and of all results of a search; what follows shows in no excerpt. */
const maxOfPage = 100_000;
const maxOfSearch = 500_000;
/** Cutting a text without blanks into words takes about so many times as long. */
const costWithoutBlanks = 8;

export interface ReadBudget {
  left: number;
}

/** Of one search: excerpts are made in one go. */
export const createReadBudget = (): ReadBudget => ({ left: maxOfSearch });

type Mark = readonly [from: number, to: number];

export interface SectionExcerpt {
  readonly heading: MarkedText;
  readonly anchor: string;
  readonly excerpt: MarkedText;
}

export function markText(text: string, terms: ReadonlySet<string>, language: string): MarkedText {
  const find = termFinder(terms, language);
  return { text, marks: findMarks(text, language, find).map(({ mark }) => mark) };
}

/**
 * @param terms of the index that the query found on the page
 * @param title of the page: its section is the page itself
 * @param budget what is read is taken from it
 */
export function chooseSection(
  sections: readonly StoredSection[],
  terms: ReadonlySet<string>,
  title: string,
  language: string,
  budget: ReadBudget = createReadBudget(),
): SectionExcerpt {
  let best:
    | { readonly section: StoredSection; readonly score: number; readonly found: readonly Found[] }
    | undefined;
  const page: ReadBudget = { left: Math.min(maxOfPage, budget.left) };
  const before = page.left;
  const find = termFinder(terms, language);
  const marksWithin = (whole: string): readonly Found[] => {
    const read = takeFrom(page, whole);
    return read === '' ? [] : findMarks(read, language, find);
  };
  for (const section of sections) {
    if (best !== undefined && page.left < costWithoutBlanks) break;
    const [heading, , text] = section;
    const inHeading = heading === title ? [] : marksWithin(heading);
    const found = marksWithin(text);
    const score = 2 * distinct(inHeading) + distinct(found) + Math.min(found.length, 9) / 10;
    if (best === undefined || score > best.score) best = { section, score, found };
  }
  budget.left -= before - page.left;
  const [heading = '', anchor = '', text = ''] = best?.section ?? [];
  const isPage = heading === title || heading === '';
  return {
    heading: isPage ? { text: '', marks: [] } : markText(heading, terms, language),
    anchor: isPage ? '' : anchor,
    excerpt: cutAround(text, best?.found ?? []),
  };
}

/** @returns the beginning that the budget allows */
function takeFrom(budget: ReadBudget, text: string): string {
  const cost = mayLackBlanks(text) ? costWithoutBlanks : 1;
  const read = text.slice(0, Math.floor(budget.left / cost));
  budget.left -= read.length * cost;
  return read;
}

interface Found {
  readonly term: string;
  readonly mark: Mark;
}

interface TermFinder {
  /** Matches within each word that may have a term, and within others. */
  readonly hint: RegExp;
  termOf(word: string): string | undefined;
}

/** Remembers words: a page has most of them many times. */
function termFinder(terms: ReadonlySet<string>, language: string): TermFinder {
  const known = new Map<string, string | undefined>();
  return {
    hint: hintOf(terms),
    termOf: (word) => {
      if (known.has(word)) return known.get(word);
      const term = termsOfWord(word, language).find((one) => terms.has(one));
      known.set(word, term);
      return term;
    },
  };
}

const hintLength = 4;
const maxHints = 12;

/** A word of ASCII has its terms within it, but for the case of letters. Any other word may have any term. */
function hintOf(terms: ReadonlySet<string>): RegExp {
  const ofAscii = [...terms].filter((term) => /^[a-z0-9_.]+$/.test(term));
  const beginnings = new Set(ofAscii.map((term) => term.slice(0, hintLength)));
  const few = beginnings.size > maxHints ? new Set(ofAscii.map((term) => term.slice(0, 1))) : beginnings;
  return new RegExp(`[^\\0-\\x7f]${[...few].map((one) => `|${one.replaceAll('.', '\\.')}`).join('')}`, 'gi');
}

/** Cuts a text into words only around what the hint matches. No word has a blank. */
function findMarks(text: string, language: string, { hint, termOf }: TermFinder): readonly Found[] {
  const found: Found[] = [];
  let done = 0;
  while (done < text.length) {
    hint.lastIndex = done;
    const at = hint.exec(text)?.index;
    if (at === undefined) break;
    const from = text.lastIndexOf(' ', at) + 1;
    const blank = text.indexOf(' ', at);
    done = blank < 0 ? text.length : blank;
    eachWord(text.slice(from, done), language, (word, within) => {
      const term = termOf(word);
      if (term !== undefined) found.push({ term, mark: [from + within, from + within + word.length] });
    });
  }
  return found;
}

const distinct = (found: readonly Found[]): number => new Set(found.map(({ term }) => term)).size;

/** The part of a text with most of the terms, from one word to another. */
function cutAround(text: string, found: readonly Found[]): MarkedText {
  const from = startOf(text, found);
  let to = Math.min(text.length, from + excerptLength);
  if (to < text.length) {
    const blank = text.lastIndexOf(' ', to);
    if (blank > from + excerptLength / 2) to = blank;
    else if (isHighSurrogate(text, to - 1)) to -= 1;
  }
  const before = from > 0 ? '… ' : '';
  const after = to < text.length ? ' …' : '';
  const shift = before.length - from;
  return {
    text: `${before}${text.slice(from, to)}${after}`,
    marks: found
      .filter(({ mark }) => mark[0] >= from && mark[1] <= to)
      .map(({ mark }): Mark => [mark[0] + shift, mark[1] + shift]),
  };
}

function startOf(text: string, found: readonly Found[]): number {
  let best = { at: 0, terms: 0 };
  for (const [index, { mark }] of found.entries()) {
    const within = new Set<string>();
    for (let next = index; next < found.length; next += 1) {
      const other = found[next];
      if (other === undefined || other.mark[1] > mark[0] + excerptLength - leadLength) break;
      within.add(other.term);
    }
    if (within.size > best.terms) best = { at: mark[0], terms: within.size };
    if (index >= maxTriedStarts) break;
  }
  if (best.at <= leadLength) return 0;
  const blank = text.indexOf(' ', best.at - leadLength);
  if (blank >= 0 && blank < best.at) return blank + 1;
  const start = best.at - leadLength / 3;
  return isHighSurrogate(text, start - 1) ? start - 1 : start;
}

const maxTriedStarts = 200;

const isHighSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;
