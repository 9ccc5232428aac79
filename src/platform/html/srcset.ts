// Reads the `srcset` and `imagesrcset` attributes: a list of image addresses, each with a width or density. Owns the
// split by the HTML standard's algorithm, under which a comma may be part of an address. Reads the text by position:
// cutting off the rest for each address would copy it each time.

export interface SrcsetAddress {
  readonly text: string;
  /** Where it begins and ends. */
  readonly at: number;
  readonly to: number;
}

/** The addresses of a srcset, in order (HTML standard, "parse a srcset attribute"; descriptors are not judged). */
export function* readSrcset(text: string): Generator<string> {
  for (const { text: address } of readSrcsetPositions(text)) yield address;
}

/** The same with their positions. */
export function* readSrcsetPositions(text: string): Generator<SrcsetAddress> {
  const word = /[^\s,]\S*/g;
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    const [url] = match;
    const bare = withoutCommas(url);
    yield { text: bare, at: match.index, to: match.index + bare.length };
    // An address that ends in a comma has no descriptors; otherwise they run to a comma outside parentheses.
    if (bare.length === url.length) word.lastIndex = descriptorsEnd(text, word.lastIndex);
  }
}

function withoutCommas(url: string): string {
  let end = url.length;
  while (url[end - 1] === ',') end -= 1;
  return url.slice(0, end);
}

function descriptorsEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '(') depth += 1;
    else if (char === ')' && depth > 0) depth -= 1;
    else if (char === ',' && depth === 0) return at;
  }
  return text.length;
}
