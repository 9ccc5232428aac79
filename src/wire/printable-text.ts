// Every text that somebody else wrote and that people are shown (status, events, logs, metrics, answers) passes here:
// tenants, export APIs, sites and readers could otherwise forge lines, reorder what is read, or hide characters in it.
// What would not be seen is escaped, as `\u{202e}`, so that two different texts never look alike.
// Invariant: what comes out has no hidden character, is well-formed, is no longer than asked for, and comes out unchanged.

/** Controls, line and paragraph separators, bidi, zero width, private use, lone surrogates, and what draws nothing. */
const hiddenCharacters =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** An escape or a character of which the end was cut off. */
const brokenEnd = /\\(?:u(?:\{[0-9a-f]{0,6})?)?$|[\ud800-\udbff]$/;

/** The longest text that is shown where its place sets no other bound. */
export const longestShown = 2048;

/** True for text that {@link printable} would only shorten. */
export function isPrintable(text: string): boolean {
  return text.search(hiddenCharacters) < 0;
}

/** The text as people may be shown it; what is longer ends in `…`. */
export function printable(text: string, maxLength: number = longestShown): string {
  // Escaping only lengthens, so no more than this can be part of the result.
  const shown = text.slice(0, maxLength + 1).replace(hiddenCharacters, escapeOf);
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength - 1).replace(brokenEnd, '')}…`;
}

/** The same of every text within a value of JSON, names of members included. Other objects stay as they are. */
export function printableValue(value: unknown, maxLength: number = longestShown): unknown {
  if (typeof value === 'string') return printable(value, maxLength);
  if (Array.isArray(value)) return value.map((one: unknown) => printableValue(one, maxLength));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [printable(name, maxLength), printableValue(one, maxLength)]),
  );
}

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
