// A question as a set of numbers, one for each word that says what it is about. Questions that differ in case, order,
// endings and filler words become the same set. Refuses: keeping the words themselves. Invariant: the work for one
// question is bounded, whatever a visitor wrote.

import { hash as hashText } from 'node:crypto';
import { stemmer } from 'stemmer';
import { actionWords, fillers, phrases, sameMeaning, troubleWords, weakWords } from './word-lists.ts';

/** Longer questions are pasted logs or letters; their beginning says what they are about. */
const longestRead = 600;
const mostWords = 12;

/** Scripts that put no space between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** @returns a number for each word, in ascending order, none twice; empty for a text without letters and digits */
export function questionWords(question: string): readonly number[] {
  const all = wordsIn(question);
  const telling = all.filter((word) => !fillers.has(word));
  // "How does it work?" has fillers only.
  const kept = new Set((telling.length === 0 ? all : telling).map(numberOf));
  return [...kept].slice(0, mostWords).sort((a, b) => a - b);
}

/** What a word says: what it is about, little, or what is done to it. */
export type WordKind = (typeof kinds)[number];
/** Number in the last two bits of a word. */
const kinds = ['name', 'weak', 'action'] as const;
const kindBits = 3;

export const wordKindOf = (word: number): WordKind => kinds[word & kindBits] ?? 'name';

const numbered = (stem: string, kind: WordKind): number =>
  ((hashWord(stem) & ~kindBits) | kinds.indexOf(kind)) >>> 0;

function numberOf(word: string): number {
  if (troubleWords.has(word)) return trouble;
  const plain = stemmer(word);
  const stem = meanings.get(plain) ?? plain;
  if (weakStems.has(stem) || /^\d+$/.test(stem)) return numbered(stem, 'weak');
  return numbered(stem, actionStems.has(stem) ? 'action' : 'name');
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

/** FNV-1a over UTF-16 code units, 32 bits. */
function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

const stemsOf = (words: Iterable<string>): ReadonlySet<string> => new Set([...words].map(stemmer));
const actionStems = stemsOf(actionWords);
const weakStems = stemsOf(weakWords);
const meanings = new Map(
  sameMeaning.flatMap(([first = '', ...others]) =>
    others.map((other) => [stemmer(other), stemmer(first)] as const),
  ),
);
/** No word has this text. */
const trouble = numbered(' ', 'weak');
