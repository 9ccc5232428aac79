// Words of a text as the terms of a search, the same for the builder, the browser and the server. Imports nothing. Scripts without
// blanks are split by `Intl.Segmenter`, all others by one expression, so that no two engines disagree about them. Invariant: a term
// is folded: lower case, no diacritics, one form of each letter.

/** A longer word is cut, on both sides. */
export const maxTermLength = 40;
/** Of one word: a path or a name of code has parts. */
const maxParts = 8;

const words = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*(?:\.[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*)*/gu;
const wordHere = new RegExp(words.source, 'uy');
/** Han, kana, Thai, Lao, Khmer and Burmese are written without blanks. */
const unspaced =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;
/** Thai is the first of them. */
const firstUnspaced = 0x0e00;
const mayBeUnspaced =
  /[\u{0e00}-\u{0eff}\u{1000}-\u{109f}\u{1780}-\u{17ff}\u{2e80}-\u{9fff}\u{f900}-\u{ffef}\u{20000}-\u{3ffff}]/u;

/** Calls `visit` for each word as it is written, in order. */
export function eachWord(text: string, language: string, visit: (word: string, at: number) => void): void {
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (isAscii(code) && !isAsciiOfWord(code)) {
      at += 1;
      continue;
    }
    const end = isAscii(code) ? endOfAsciiWord(text, at) : undefined;
    const word = end === undefined ? wordAt(text, at) : text.slice(at, end);
    if (word === '') {
      at += codeUnitsAt(text, at);
      continue;
    }
    if (end !== undefined || isSpaced(word)) visit(word, at);
    else eachPartOfUnspaced(word, at, language, visit);
    at += word.length;
  }
}

const asciiOfWords = Uint8Array.from({ length: 128 }, (_, code) =>
  /\w/.test(String.fromCodePoint(code)) ? 1 : 0,
);
const isAscii = (code: number): boolean => code < 128;
const isAsciiOfWord = (code: number): boolean => asciiOfWords[code] === 1;
const dot = 0x2e;

/** Most words are found without the expression. @returns `undefined` where another letter may follow */
function endOfAsciiWord(text: string, from: number): number | undefined {
  let at = from;
  while (isAsciiOfWord(text.charCodeAt(at))) {
    at += 1;
    if (
      text.charCodeAt(at) === dot &&
      (isAsciiOfWord(text.charCodeAt(at + 1)) || text.charCodeAt(at + 1) >= 128)
    )
      at += 1;
  }
  return text.charCodeAt(at) >= 128 ? undefined : at;
}

/** Empty where no word begins. */
function wordAt(text: string, at: number): string {
  wordHere.lastIndex = at;
  return wordHere.exec(text)?.[0] ?? '';
}

const codeUnitsAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/** Whether a text has a script that is written without blanks. */
export const mayLackBlanks = (text: string): boolean => mayBeUnspaced.test(text);

function isSpaced(word: string): boolean {
  return word.charCodeAt(0) < firstUnspaced ? !mayBeUnspaced.test(word) : !unspacedOnce.test(word);
}

const unspacedOnce = new RegExp(unspaced.source, 'u');

function eachPartOfUnspaced(
  word: string,
  at: number,
  language: string,
  visit: (word: string, at: number) => void,
): void {
  let done = 0;
  for (const { 0: run, index } of word.matchAll(unspaced)) {
    eachSpaced(word.slice(done, index), at + done, visit);
    eachSegment(run, at + index, language, visit);
    done = index + run.length;
  }
  eachSpaced(word.slice(done), at + done, visit);
}

function eachSpaced(text: string, at: number, visit: (word: string, at: number) => void): void {
  for (const { 0: word, index } of text.matchAll(words)) visit(word, at + index);
}

/** An engine without a segmenter keeps the run, which finds the words that begin with it. */
function eachSegment(
  run: string,
  at: number,
  language: string,
  visit: (word: string, at: number) => void,
): void {
  const segmenter = segmenterOf(language);
  if (segmenter === undefined) {
    visit(run, at);
    return;
  }
  for (const { segment, index, isWordLike } of segmenter.segment(run)) {
    if (isWordLike === true) visit(segment, at + index);
  }
}

const segmenters = new Map<string, Intl.Segmenter | undefined>();
/** Languages come from pages. */
const maxSegmenters = 100;

function segmenterOf(language: string): Intl.Segmenter | undefined {
  if (segmenters.has(language)) return segmenters.get(language);
  if (segmenters.size >= maxSegmenters) segmenters.clear();
  const made = makeSegmenter(language);
  segmenters.set(language, made);
  return made;
}

function makeSegmenter(language: string): Intl.Segmenter | undefined {
  if (typeof Intl.Segmenter !== 'function') return undefined;
  try {
    return new Intl.Segmenter(language, { granularity: 'word' });
  } catch {
    return new Intl.Segmenter('und', { granularity: 'word' });
  }
}

/** Combining marks of Latin, Greek, Cyrillic, Hebrew and Arabic; the Arabic stretch; characters that show nothing. */
const marks =
  /[\u{0300}-\u{036f}\u{0591}-\u{05bd}\u{05bf}-\u{05c7}\u{0610}-\u{061a}\u{0640}\u{064b}-\u{065f}\u{0670}\u{06d6}-\u{06ed}\u{ad}\u{200b}-\u{200f}\u{2060}\u{feff}]+/gu;
const letters: ReadonlyMap<string, string> = new Map([
  ...([
    ['ß', 'ss'],
    ['æ', 'ae'],
    ['œ', 'oe'],
    ['ø', 'o'],
    ['đ', 'd'],
    ['ð', 'd'],
    ['þ', 'th'],
    ['ł', 'l'],
    ['ı', 'i'],
  ] as const),
  ...([
    ['ى', 'ي'],
    ['ی', 'ي'],
    ['ة', 'ه'],
    ['ک', 'ك'],
    ['ς', 'σ'],
  ] as const),
  ...Array.from('٠١٢٣٤٥٦٧٨٩', (digit, value) => [digit, `${value}`] as const),
]);
const foldedLetters = new RegExp(`[${[...letters.keys()].join('')}]`, 'gu');
const plain = /^[a-z0-9_.]*$/;
/** The article, alone and with what is written in front of it as one word. */
const arabicArticle = /^(?:وال|بال|كال|فال|لل|ال)(?=[\u{0621}-\u{064a}]{3})/u;

/** One form of a word, whatever its case, accents and width. Language decides only what lower case is. */
export function foldWord(word: string, language: string): string {
  const lower =
    language === 'tr' || language === 'az' ? word.toLocaleLowerCase(language) : word.toLowerCase();
  if (plain.test(lower)) return lower.slice(0, maxTermLength);
  const bare = lower.normalize('NFKD').replace(marks, '').normalize('NFC');
  const folded = bare.replace(foldedLetters, (letter) => letters.get(letter) ?? letter);
  return folded.replace(arabicArticle, '').slice(0, maxTermLength);
}

/** The terms under which a word is found: itself, the parts of a name of code, and what a compound of Han or kana ends in. */
export function termsOfWord(word: string, language: string): readonly string[] {
  const folded = foldWord(word, language);
  if (folded === '') return [];
  if (unspacedOnce.test(folded)) return [folded, ...endings(folded)];
  const parts = partsOfWord(word, language);
  return parts.length === 0 ? [folded] : [...new Set([folded, ...parts])];
}

/** Most words: no case that changes within them, and nothing that separates parts. */
const undivided = /^[A-Za-z]?[a-z0-9]*$/;

/** Whether a word is its one term, as it is written. */
export const isOwnTerm = (word: string): boolean => word.length <= maxTermLength && /^[a-z0-9]+$/.test(word);

/** Of `max_size`, `json.dumps` and `createServer`: their words. None for a word without parts. */
export function partsOfWord(word: string, language: string): readonly string[] {
  if (undivided.test(word)) return [];
  const split = word
    .slice(0, 4 * maxTermLength)
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[._ ]+/)
    .filter((part) => part !== '');
  return split.length < 2 ? [] : split.slice(0, maxParts).map((part) => foldWord(part, language));
}

/** From each later letter on, as long as two letters remain: so a part of a compound is a beginning. */
function endings(word: string): readonly string[] {
  const letters = [...word];
  const found: string[] = [];
  for (let at = 1; at <= letters.length - 2 && found.length < maxParts; at += 1) {
    found.push(letters.slice(at).join(''));
  }
  return found;
}
