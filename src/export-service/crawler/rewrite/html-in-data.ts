// HTML that data carries as a text, such as `"__html":"<img src=\"https://…\">"`: where its addresses stand in the source. A framework
// puts such a text into the page when a visitor navigates. Pure. Refuses texts whose member does not say that they are HTML: a
// sample of code that the site shows looks the same. Invariant: linear time, and each position is within one text.

import { readHtmlPositions } from '#site/references/html-positions.ts';
import type { Span } from '#site/references/next-stream.ts';
import type { AddressPosition } from '#site/references/reference.ts';

/**
 * A member whose value is HTML: of React, of WordPress, and those whose name ends so. The backslashes before its quotes say how
 * deep its text lies in other texts.
 */
const member = /(?<!\\)(\\{0,7})"(?:[\w-]{0,64}html|rendered)\1"\s{0,16}:\s{0,16}\1"/gi;
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
): readonly Required<Pick<AddressPosition, 'text' | 'at' | 'to'>>[] {
  const found: Required<Pick<AddressPosition, 'text' | 'at' | 'to'>>[] = [];
  const text = source.slice(from, to);
  const members = new RegExp(member);
  for (let match = members.exec(text); match !== null; match = members.exec(text)) {
    const [whole, { length: escapes } = ''] = match;
    const levels = Math.log2(escapes + 1);
    const start = match.index + whole.length;
    if (!Number.isInteger(levels)) continue;
    const end = endOf(text, start, levels);
    if (end === undefined) continue;
    members.lastIndex = end;
    if (end - start > maxTextLength || !mayHold(text.slice(start, end))) continue;
    const characters = readSpelled(text, { from: start, to: end }, levels + 1);
    const html = characters.map(({ char }) => char).join('');
    for (const position of readHtmlPositions(html).positions) {
      const first = characters[position.at];
      const last = characters[(position.to ?? 0) - 1];
      if (first === undefined || last === undefined || position.to === undefined) continue;
      found.push({ text: position.text, at: from + first.from, to: from + last.to });
    }
  }
  return found;
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

/** Each level is a text in a text. */
function readSpelled(text: string, { from, to }: Span, levels: number): readonly Spelled[] {
  let characters: readonly Spelled[] = Array.from(text.slice(from, to), (char, at) => ({
    ...{ char, from: from + at, to: from + at + 1 },
  }));
  for (let level = 0; level < levels; level += 1) characters = [...unescaped(characters)];
  return characters;
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
