// Whether a request wants a page as Markdown (RFC 9110 §12.4.2, §12.5.1). Refuses: throwing, whatever the header, and taking a wildcard
// for a wish. Invariant: a client is sent Markdown only where it has named the type, and with a weight that is not below that of HTML.

/** No two neighbours take the same character: else blanks alone would be divided among them in every possible way. */
const mediaRange = /^[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\/([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*$/;
const weightText = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
/** More is not read: browsers name ten types. */
const longestHeader = 4096;

/**
 * A weight that is not a weight counts as 0. The most specific range decides what HTML weighs, and a wildcard counts for it.
 *
 * @param header `Accept` as received
 */
export function prefersMarkdown(header: string | undefined): boolean {
  // Almost no request of a browser gets beyond this.
  if (header === undefined || header.length > longestHeader || !/markdown/i.test(header)) return false;
  const weights = readWeights(header);
  const markdown = weights.get('text/markdown') ?? 0;
  const html = weights.get('text/html') ?? weights.get('text/*') ?? weights.get('*/*') ?? 0;
  return markdown > 0 && markdown >= html;
}

/** By range without parameters; the lowest, where one is named twice. */
function readWeights(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of elementsOf(header, ',')) {
    const [range = '', ...parameters] = elementsOf(element, ';');
    const [, type = '', subtype = ''] = mediaRange.exec(range) ?? [];
    if (type === '') continue;
    const name = `${type}/${subtype}`.toLowerCase();
    const weight = weightOf(parameters);
    weights.set(name, Math.min(weights.get(name) ?? 1, weight));
  }
  return weights;
}

function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [, text] = /^[ \t]*[qQ][ \t]*=(.*)$/s.exec(parameter) ?? [];
    if (text !== undefined) return weightText.test(text.trim()) ? Number(text) : 0;
  }
  return 1;
}

/** Parted by `separator`, but not within quotes: a parameter may be a quoted text (§5.6.4). */
function elementsOf(text: string, separator: ',' | ';'): readonly string[] {
  if (!text.includes('"')) return text.split(separator);
  const elements: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted && char === '\\') at += 1;
    else if (!isQuoted && char === separator) {
      elements.push(text.slice(from, at));
      from = at + 1;
    }
  }
  elements.push(text.slice(from));
  return elements;
}
