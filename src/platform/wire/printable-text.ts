// Makes text from outside safe to show to people in status, events, logs, metrics and answers. Otherwise tenants,
// export APIs, sites and readers could forge lines, reorder text, or hide characters. Hidden characters are
// escaped, as `\u{202e}`, so that two different texts never look alike. Invariant: the result has no hidden
// character, is well-formed, is not longer than requested, and does not change when it is escaped again.

/**
 * Controls, line and paragraph separators, bidi, zero width, private use, lone surrogates, and characters without a
 * glyph.
 */
const hiddenCharacters =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** An escape or a character whose end was cut off. */
const brokenEnd = /\\(?:u(?:\{[0-9a-f]{0,6})?)?$|[\ud800-\udbff]$/;

/** The longest text that is shown, unless the caller sets another bound. */
export const longestShown = 2048;

/** True for text that {@link printable} would at most shorten. */
export function isPrintable(text: string): boolean {
  return text.search(hiddenCharacters) < 0;
}

/** The text, safe to show to people. A longer text ends in `…`. */
export function printable(text: string, maxLength: number = longestShown): string {
  // Escaping only makes text longer, so the result needs no more than this part.
  const shown = text.slice(0, maxLength + 1).replace(hiddenCharacters, escapeOf);
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength - 1).replace(brokenEnd, '')}…`;
}

/** Applies it to every text within a JSON value, including names of members. Other objects stay unchanged. */
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
