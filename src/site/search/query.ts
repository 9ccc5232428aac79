// A reader's query as units: what each word stands for in the index, and how far it may differ. Pure. Refuses long queries. Invariant: a
// unit counts once, whatever number of forms it is found by.

import { spellingsOf, stemOf } from './inflections.ts';
import type { TextIndex, WantedTerm } from './page-index.ts';
import { eachWord, foldWord, partsOfWord } from './terms.ts';

/** Characters of a query; the rest is not read. */
export const maxQueryLength = 300;
const maxUnits = 16;
/** Other forms of one word. */
const maxForms = 12;
/** Terms with the same beginning that are compared. */
const maxCompared = 300;

/** Terms that begin as the word that is being typed, which all that begin with one letter are too many for. */
const maxBegun = 1000;

/** Of titles, and of the files of the query's own words. */
export type KnownTerms = Pick<TextIndex, 'hasInTitle' | 'withPrefix' | 'near'>;

export interface QueryUnit {
  /** Folded. */
  readonly term: string;
  /** Other spellings of it, folded. */
  readonly spellings: readonly string[];
  /** The reader may still be typing it. */
  readonly isLast: boolean;
  /** False for a name of code whose parts are units themselves. */
  readonly isCounted: boolean;
}

export function readQuery(query: string, language: string): readonly QueryUnit[] {
  const text = query.slice(0, maxQueryLength);
  const words: { readonly word: string; readonly isLast: boolean }[] = [];
  eachWord(text, language, (word, at) => words.push({ word, isLast: at + word.length === text.length }));
  const units = new Map<string, QueryUnit>();
  const add = (word: string, term: string, isLast: boolean, isCounted: boolean): void => {
    if (term === '' || units.size >= maxUnits) return;
    const spellings = spellingsOf(word, language).map((one) => foldWord(one, language));
    const known = units.get(term);
    units.set(term, {
      term,
      spellings: spellings.filter((one) => one !== term),
      isLast: isLast || known?.isLast === true,
      isCounted: isCounted || known?.isCounted === true,
    });
  };
  for (const { word, isLast } of words) {
    const parts = partsOfWord(word, language);
    for (const [at, part] of parts.entries()) add(part, part, isLast && at === parts.length - 1, true);
    add(word, foldWord(word, language), isLast, parts.length === 0);
  }
  return [...units.values()];
}

/** The form of a unit for which files of terms are loaded: all its forms begin with one of these. */
export function beginningsOf({ term, spellings }: QueryUnit, language: string): readonly string[] {
  return [...new Set([term, ...spellings].map((one) => stemOf(one, language) ?? one))];
}

/**
 * The terms that stand for the units of a query, each once. A unit's bit is its place among the units.
 *
 * @param units at most 16, see {@link readQuery}
 */
export function wantedTerms(
  units: readonly QueryUnit[],
  language: string,
  known: KnownTerms,
): readonly WantedTerm[] {
  const wanted = new Map<string, WantedTerm>();
  for (const [at, unit] of units.entries()) {
    const boost = unit.isCounted ? 1 : 0.5;
    const add = (term: string, weight: number): void => {
      const before = wanted.get(term);
      wanted.set(term, {
        term,
        weight: (before?.weight ?? 0) + boost * weight,
        units: (before?.units ?? 0) | (1 << at),
      });
    };
    addForms(unit, language, known, add);
  }
  return [...wanted.values()];
}

function addForms(
  unit: QueryUnit,
  language: string,
  known: KnownTerms,
  add: (term: string, weight: number) => void,
): void {
  const { term, spellings, isLast } = unit;
  const forms = otherForms(unit, language, known);
  const isKnown =
    known.hasInTitle(term) || forms.some(known.hasInTitle) || (isLast && beginsTitleTerm(term, known));
  add(term, 1);
  const begun = isLast ? termsBegun(term, known) : new Set<string>();
  for (const other of begun) add(other, 0.4 * partOf(other, term, 0.3));
  const distance = isKnown ? 0 : distanceOf(term);
  if (distance > 0) {
    for (const [other, letters] of known.near(term, distance)) {
      if (letters > 0 && !begun.has(other)) add(other, (0.3 * other.length) / (other.length + letters));
    }
  }
  for (const spelling of spellings) {
    add(spelling, 0.6);
    if (!isLast) continue;
    for (const other of termsBegun(spelling, known)) add(other, 0.6 * 0.375 * partOf(other, spelling, 0.3));
  }
  for (const form of forms) add(form, 0.6);
  for (const swapped of isKnown ? [] : swapsOf(term)) if (known.hasInTitle(swapped)) add(swapped, 0.5);
}

/** How much of a longer word the typed beginning is. */
const partOf = (word: string, beginning: string, effect: number): number =>
  word.length / (word.length + effect * (word.length - beginning.length));

/** Longer terms with that beginning. */
function termsBegun(beginning: string, known: KnownTerms): ReadonlySet<string> {
  const begun = new Set<string>();
  for (const term of known.withPrefix(beginning)) {
    if (term !== beginning) begun.add(term);
    if (begun.size >= maxBegun) break;
  }
  return begun;
}

/** Letters in which a word of the index may differ. */
function distanceOf(term: string): number {
  const { length } = term;
  if (length < 4 || /^\d+$/.test(term)) return 0;
  return length < 8 ? 1 : 2;
}

/** Forms of the same word, and of its other spellings, that the index has. */
function otherForms({ term, spellings }: QueryUnit, language: string, known: KnownTerms): readonly string[] {
  const found = new Set<string>();
  for (const one of [term, ...spellings]) {
    const stem = stemOf(one, language);
    const stems = new Set([one, stem]);
    let compared = 0;
    for (const other of known.withPrefix(stem ?? one)) {
      compared += 1;
      if (compared > maxCompared || found.size >= maxForms) break;
      if (
        other !== term &&
        !spellings.includes(other) &&
        (stems.has(other) || stems.has(stemOf(other, language)))
      )
        found.add(other);
    }
  }
  return [...found];
}

function beginsTitleTerm(term: string, known: KnownTerms): boolean {
  let compared = 0;
  for (const other of known.withPrefix(term)) {
    if (known.hasInTitle(other)) return true;
    compared += 1;
    if (compared > maxCompared) return true;
  }
  return false;
}

/** Two letters in the wrong order are one mistake of a writer, and two to a distance. */
function swapsOf(term: string): readonly string[] {
  return Array.from(
    { length: Math.max(0, term.length - 1) },
    (_, at) => `${term.slice(0, at)}${term[at + 1]}${term[at]}${term.slice(at + 2)}`,
  );
}
