// One form for names that look alike: macOS decomposes letters with marks (NFD), browsers and editors compose them (NFC).
// Refuses to fold anything else: letters of other sizes, widths and alphabets stay different.

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range begins there
const ascii = /^[\u0000-\u007f]*$/;

/** The longest path of an archive in its longest form. A longer text names no file, and composing it could take long. */
const longestName = 4096;

/** The text in its composed form (NFC). */
export function composedForm(text: string): string {
  return text.length > longestName || ascii.test(text) ? text : text.normalize('NFC');
}
