// The `srcset` and `imagesrcset` attributes: a list of image addresses, each with a width or density.
// Owns: the split by the HTML standard's algorithm, under which a comma may be part of an address.

/** The addresses of a srcset, in order (HTML standard, "parse a srcset attribute"; descriptors are not judged). */
export function readSrcset(text: string): readonly string[] {
  const urls: string[] = [];
  let rest = text;
  for (;;) {
    rest = rest.replace(/^[\s,]+/, '');
    const url = /^\S+/.exec(rest)?.[0];
    if (url === undefined) return urls;
    rest = rest.slice(url.length);
    const bare = withoutCommas(url);
    if (bare !== '') urls.push(bare);
    // An address that ends in a comma has no descriptors; otherwise they run to a comma outside parentheses.
    if (bare.length === url.length) rest = rest.slice(descriptorsLength(rest));
  }
}

function withoutCommas(url: string): string {
  let end = url.length;
  while (url[end - 1] === ',') end -= 1;
  return url.slice(0, end);
}

function descriptorsLength(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '(') depth += 1;
    else if (char === ')' && depth > 0) depth -= 1;
    else if (char === ',' && depth === 0) return at;
  }
  return text.length;
}
