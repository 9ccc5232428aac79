// A reader's query as units: what each word stands for in the index, and how far it may differ. Pure. Refuses long queries. Invariant: a
// unit counts once, whatever number of forms it is found by.

import type { Query, SearchOptions } from 'minisearch';
import { spellingsOf, stemOf } from './inflections.ts';
import { eachWord, foldWord, partsOfWord } from './terms.ts';

/** Characters of a query; the rest is not read. */
export const maxQueryLength = 300;
const maxUnits = 16;
/** Other forms of one word. */
const maxForms = 12;
/** Terms with the same beginning that are compared. */
const maxCompared = 300;

/** The terms of an index, as far as they are loaded. */
export interface KnownTerms {
  /** Whether a title or a heading has it. */
  hasInTitle(term: string): boolean;
  /** In no order. */
  withPrefix(prefix: string): Iterable<string>;
}

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

/** By `match` of a result, which terms are a unit's: those that MiniSearch was asked for. */
export interface PlannedUnit {
  readonly unit: QueryUnit;
  readonly asked: ReadonlySet<string>;
}

export interface QueryPlan {
  readonly units: readonly PlannedUnit[];
  readonly query: Query;
}

const exactly: SearchOptions = { prefix: false, fuzzy: false };

export function planQuery(units: readonly QueryUnit[], language: string, known: KnownTerms): QueryPlan {
  const planned = units.map((unit) => planUnit(unit, language, known));
  return {
    units: planned.map(({ unit, forms }) => ({ unit, asked: new Set([unit.term, ...forms]) })),
    query: { combineWith: 'OR', queries: planned.map(({ query }) => query) },
  };
}

function planUnit(
  unit: QueryUnit,
  language: string,
  known: KnownTerms,
): { readonly unit: QueryUnit; readonly forms: readonly string[]; readonly query: Query } {
  const { term, spellings, isLast, isCounted } = unit;
  const forms = otherForms(unit, language, known);
  const isKnown =
    known.hasInTitle(term) || forms.some(known.hasInTitle) || (isLast && beginsTitleTerm(term, known));
  const swapped = isKnown ? [] : swapsOf(term).filter(known.hasInTitle);
  const boost = isCounted ? 1 : 0.5;
  return {
    unit,
    forms: [...spellings, ...forms, ...swapped],
    query: {
      combineWith: 'OR',
      queries: [
        {
          ...{
            queries: [term],
            combineWith: 'OR',
            prefix: isLast,
            fuzzy: isKnown ? false : distanceOf(term),
          },
          weights: { prefix: 0.4, fuzzy: 0.3 },
          boostTerm: () => boost,
        },
        {
          ...{ queries: [...spellings], combineWith: 'OR', prefix: isLast, fuzzy: false },
          boostTerm: () => 0.6 * boost,
        },
        { ...exactly, combineWith: 'OR', queries: [...forms], boostTerm: () => 0.6 * boost },
        { ...exactly, combineWith: 'OR', queries: [...swapped], boostTerm: () => 0.5 * boost },
      ],
    },
  };
}

/** Letters in which a word of the index may differ. */
function distanceOf(term: string): number | false {
  const { length } = term;
  if (length < 4 || /^\d+$/.test(term)) return false;
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
