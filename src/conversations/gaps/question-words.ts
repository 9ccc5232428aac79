// A question as a set of numbers, one for each word that says what it is about. Questions that differ in case, order,
// endings and filler words become the same set. Refuses: keeping the words themselves. Invariant: the work for one
// question is bounded, whatever a visitor wrote.

import { hash as hashText } from 'node:crypto';

/** Longer questions are pasted logs or letters; their beginning says what they are about. */
const longestRead = 600;
export const mostWords = 12;

/**
 * Words that most questions have, and verbs for "make it work": two ways to ask for the same page differ in them.
 * Contractions are split at their apostrophe before.
 */
const fillers: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be been best by can could d did do does doesn doing don for from get gets getting ' +
    'give gives got had has have hello help hey hi how i if im in into is isn it its just keep let ll m may me ' +
    'my need needs no not now of ok on one or our out per please possible re s should so some someone something ' +
    'still t tell thank thanks that the their them then there these they this those to up us use used uses ' +
    'using ve via want wants was way we well what whats when where whether which while who why will with work ' +
    'working works would you your yours ' +
    'add adding config configuration configure configuring connect connecting enable enabling find finding make ' +
    'making put putting see set sets setting setup turn'
  ).split(' '),
);

/** Pairs that documentation uses as one word. */
const sameMeaning: ReadonlyMap<string, string> = new Map([
  ['remove', 'delete'],
  ['removing', 'delete'],
  ['generate', 'create'],
  ['generating', 'create'],
  ['new', 'create'],
  ['edit', 'change'],
  ['modify', 'change'],
  ['update', 'change'],
  ['updating', 'change'],
  ['docs', 'doc'],
  ['documentation', 'doc'],
  ['repo', 'repository'],
  ['repos', 'repository'],
  ['auth', 'authentication'],
  ['ips', 'ip'],
]);

const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bsingle[- ]sign[- ]?on\b/g, 'sso'],
  [/\b(?:two|2)[- ]factor\b/g, '2fa'],
];

/** Scripts that put no space between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** @returns a number for each word, in ascending order, none twice; empty for a text without letters and digits */
export function questionWords(question: string): readonly number[] {
  const all = wordsIn(question);
  const telling = all.filter((word) => !fillers.has(word));
  // "How does it work?" has fillers only.
  const kept = (telling.length === 0 ? all : telling).map((word) => stemOf(sameMeaning.get(word) ?? word));
  return [...new Set([...new Set(kept)].slice(0, mostWords).map(hashWord))].sort((a, b) => a - b);
}

/** Names a set of words: the same set has the same name in every run. 48 bits in hexadecimal. */
export function wordsName(words: readonly number[]): string {
  return hashText('sha256', words.join(' ')).slice(0, 12);
}

function wordsIn(question: string): readonly string[] {
  const text = phrases.reduce(
    (rest, [phrase, word]) => rest.replace(phrase, word),
    question.slice(0, longestRead).normalize('NFKC').toLowerCase(),
  );
  return unspaced.test(text) ? segments(text) : (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []);
}

let segmenter: Intl.Segmenter | undefined;

function segments(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}

/** English endings. A stem need not be a word: both sides lose the same letters. */
function stemOf(word: string): string {
  if (word.length < 4) return word;
  const singular = word.replace(/s$/, '');
  if (singular.length < 5) return singular;
  return singular
    .replace(/(?:ization|ification|ation|ating|ated|ate|ion|ing|ment|ie|ied|er|or|able|ity|al|ed|e|y)$/, '')
    .replace(/([b-df-hj-np-tv-z])\1$/, '$1');
}

/** FNV-1a over UTF-16 code units, 32 bits. */
function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
