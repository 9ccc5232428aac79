// HTML that data carry as a text, such as `"content":"<p><img src=\"https://…\">"`: where its addresses stand in the source. A framework
// puts such a text into the page when a visitor navigates. A member's name may say that its text is HTML; otherwise the text does, if
// it begins with a tag. Pure. Refuses prose and samples of code that the site shows: texts of members that hold plain text, and tags of
// a head alone. Invariant: linear time, and each position is within one text.

import { readHtmlPositions } from '#site/references/html-positions.ts';
import type { CountedText, Span } from '#site/references/next-stream.ts';
import type { AddressPosition } from '#site/references/reference.ts';

type HtmlAddress = Required<Pick<AddressPosition, 'text' | 'at' | 'to'>>;

export interface DataForm {
  /** The value of an attribute: its quotes and brackets may be character references. */
  readonly isAttribute?: boolean;
  /** React's stream: what stands in its lists, a page shows as text. */
  readonly isStream?: boolean;
}

/** Where a value may begin. The backslashes before its quote say how deep its text lies in other texts. */
const opening = /([:[,])\s{0,16}(\\{0,7})"/g;
/** The member in front of a colon. */
const member = /"([^"\\]{0,64})(\\{0,7})"\s{0,16}$/;
/** Its value is HTML, whatever it looks like: of React, of WordPress, and those whose name ends so. */
const htmlMember = /^(?:[\w-]*html|rendered)$/i;
/** A member whose name ends in one of these words: its value is shown as it is, also where it looks like HTML. */
const plainWords: ReadonlySet<string> = new Set(
  'text code raw source snippet markdown value title label alt children description example summary'.split(
    ' ',
  ),
);
/** A text of these has markup: `bodyText`. */
const richWords: ReadonlySet<string> = new Set('body content full intro rich'.split(' '));
/** A longer text stays as it is: while it is read, each of its characters is an object. */
const maxTextLength = 256 * 1024;

/** A character of the HTML, and where the source spells it. */
interface Spelled extends Span {
  readonly char: string;
}

/**
 * @param source one character for each byte
 * @param mayHold whether a piece of the source can hold a wanted address; others are not read
 */
export function readHtmlInData(
  source: string,
  { from, to }: Span,
  mayHold: (piece: string) => boolean,
  { isAttribute = false, isStream = false }: DataForm = {},
): readonly HtmlAddress[] {
  const written = source.slice(from, to);
  if (!mayHold(written)) return [];
  if (!isAttribute) return movedTo(readTexts(written, mayHold, isStream), (at) => from + at);
  if (written.length > maxTextLength) return [];
  const characters = [...withoutReferences(written, from)];
  const text = characters.map(({ char }) => char).join('');
  // An end is that of the last character.
  return readTexts(text, mayHold, isStream).flatMap((address) => {
    const [first, last] = [characters[address.at], characters[address.to - 1]];
    return first === undefined || last === undefined ? [] : { ...address, at: first.from, to: last.to };
  });
}

const movedTo = (found: readonly HtmlAddress[], place: (at: number) => number): readonly HtmlAddress[] =>
  found.map(({ text, at, to }) => ({ text, at: place(at), to: place(to) }));

function readTexts(
  text: string,
  mayHold: (piece: string) => boolean,
  isStream: boolean,
): readonly HtmlAddress[] {
  const found: HtmlAddress[] = [];
  const values = new RegExp(opening);
  for (let match = values.exec(text); match !== null; match = values.exec(text)) {
    const [whole, mark, { length: escapes } = ''] = match;
    const levels = Math.log2(escapes + 1);
    const start = match.index + whole.length;
    const end = Number.isInteger(levels) ? endOf(text, start, levels) : undefined;
    if (end === undefined) continue;
    const name = mark === ':' ? memberBefore(text, match.index, escapes) : undefined;
    const isNamed = name !== undefined && htmlMember.test(name);
    const value = text.slice(start, end);
    const isPlain = name !== undefined && !isNamed && isPlainMember(name);
    if (isPlain || !mayHold(value)) {
      values.lastIndex = end;
      continue;
    }
    const isValue = isNamed || (!(isStream && mark !== ':') && beginsWithTag.test(value));
    // What is none may be data that has some.
    if (!isValue || value.length > maxTextLength) continue;
    values.lastIndex = end;
    const characters = unescapedTimes(spelledAs(text, { from: start, to: end }), levels + 1);
    found.push(...addressesIn(characters, isNamed));
  }
  return found;
}

/** Words end where a capital, a hyphen or an underscore begins the next: `context` and `subtitle` are of one. */
function isPlainMember(name: string): boolean {
  const words = name.split(/[_-]|(?<=[a-z\d])(?=[A-Z])/).map((word) => word.toLowerCase());
  return plainWords.has(words.at(-1) ?? '') && !richWords.has(words.at(-2) ?? '');
}

/** @returns `undefined` where it is quoted otherwise than its value */
function memberBefore(text: string, colon: number, escapes: number): string | undefined {
  const found = member.exec(text.slice(Math.max(0, colon - 96), colon));
  return found?.[2]?.length === escapes ? found[1] : undefined;
}

/** Prose may show a tag, but does not begin with one. It is matched with how the source spells it. */
const beginsWithTag = /^(?:\s|\\{1,15}[nrt])*(?:<|\\{1,15}u003c)(?:[a-z]|!--)/i;

/** Elements of a head. A text that has no other element is a sample: `add this to your pages`. */
const headElements: ReadonlySet<string> = new Set(
  'html head body meta title base link script style noscript'.split(' '),
);

/** @param isNamed a member says that it is HTML. Otherwise scripts stay: one that is put into a page later does not run */
function addressesIn(characters: readonly Spelled[], isNamed: boolean): readonly HtmlAddress[] {
  const html = characters.map(({ char }) => char).join('');
  const names = isNamed ? [] : html.matchAll(/<([a-z][\w-]*)/gi).map(([, name = '']) => name.toLowerCase());
  if (!isNamed && names.every((name) => headElements.has(name))) return [];
  const { positions, ofScripts } = readHtmlPositions(html);
  return positions.flatMap((position) => {
    const { text, at, to = 0 } = position;
    const [first, last] = [characters[at], characters[to - 1]];
    if (first === undefined || last === undefined || (!isNamed && ofScripts.has(position))) return [];
    return { text, at: first.from, to: last.to };
  });
}

/** A member whose value is a text of the stream, by the number of its row. */
const rowMember = /"([^"\\]{0,64})\\{0,7}"\s{0,8}:\s{0,8}\\{0,7}"\$([\da-f]{1,8})\\{0,7}"/g;

/**
 * The same of long texts of React's stream: each has a row of its own, and the member that has it names the row.
 *
 * @param isEscaped as in a JavaScript string
 */
export function readHtmlInStream(
  source: string,
  counted: readonly CountedText[],
  mayHold: (piece: string) => boolean,
  isEscaped: boolean,
): readonly HtmlAddress[] {
  let members: ReadonlyMap<string, string> | undefined;
  return counted.flatMap(({ digits, pieces, bytes }) => {
    if (bytes > maxTextLength) return [];
    const written = pieces.map(({ from, to }) => source.slice(from, to)).join('');
    if (!mayHold(written)) return [];
    members ??= new Map([...source.matchAll(rowMember)].map(([, name = '', row = '']) => [row, name]));
    const row = /([\da-f]{1,8}):T$/.exec(source.slice(Math.max(0, digits.from - 10), digits.from))?.[1];
    const name = members.get(row ?? '');
    if (name === undefined) return [];
    const isNamed = htmlMember.test(name);
    if (!isNamed && (isPlainMember(name) || !beginsWithTag.test(written))) return [];
    const characters = unescapedTimes(
      pieces.flatMap((piece) => spelledAs(source, piece)),
      isEscaped ? 1 : 0,
    );
    // One that goes on in another piece has the end of a script within it.
    return addressesIn(characters, isNamed).filter(({ at, to }) =>
      pieces.some((piece) => piece.from <= at && to <= piece.to),
    );
  });
}

/** The quote that ends a text: before it stand the backslashes of its own level, and those of backslashes at the text's end. */
function endOf(text: string, start: number, levels: number): number | undefined {
  const own = 2 ** levels - 1;
  for (let quote = text.indexOf('"', start); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let at = quote;
    while (at > start && text[at - 1] === '\\') at -= 1;
    if ((quote - at) % (2 * (own + 1)) === own) return quote - own;
  }
  return undefined;
}

const named: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

const spelledAs = (text: string, { from, to }: Span): readonly Spelled[] =>
  Array.from(text.slice(from, to), (char, at) => ({ char, from: from + at, to: from + at + 1 }));

/** Each level is a text in a text. */
function unescapedTimes(characters: readonly Spelled[], levels: number): readonly Spelled[] {
  let read = characters;
  for (let level = 0; level < levels; level += 1) read = [...unescaped(read)];
  return read;
}

const reference = /&(?:(quot|amp|lt|gt|apos)|#(?:x([\da-f]{1,6})|(\d{1,7})));|./gis;
const referred: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'" };

/** @param from of the value in its source */
function* withoutReferences(value: string, from: number): Generator<Spelled> {
  for (const { 0: written, 1: name, 2: hex, 3: decimal, index } of value.matchAll(reference)) {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const char =
      name === undefined ? (code < 128 ? String.fromCharCode(code) : 'x') : referred[name.toLowerCase()];
    const at = from + index;
    yield { char: written.length === 1 ? written : (char ?? 'x'), from: at, to: at + written.length };
  }
}

function* unescaped(characters: readonly Spelled[]): Generator<Spelled> {
  for (let at = 0; at < characters.length; ) {
    const first = characters[at];
    if (first === undefined) return;
    const name = first.char === '\\' ? characters[at + 1]?.char : undefined;
    const digits = name === 'u' ? codeAt(characters, at + 2) : undefined;
    const length = name === undefined ? 1 : digits === undefined ? 2 : 6;
    const last = characters[at + length - 1] ?? first;
    const char =
      name === undefined ? first.char : digits === undefined ? (named[name] ?? name) : asciiOf(digits);
    yield { char, from: first.from, to: last.to };
    at += length;
  }
}

function codeAt(characters: readonly Spelled[], at: number): string | undefined {
  const digits = [0, 1, 2, 3].map((offset) => characters[at + offset]?.char ?? '').join('');
  return /^[\da-f]{4}$/i.test(digits) ? digits : undefined;
}

/** Other characters are of no address that was copied, as one character each. */
function asciiOf(digits: string): string {
  const code = Number.parseInt(digits, 16);
  return code < 128 ? String.fromCharCode(code) : 'x';
}
