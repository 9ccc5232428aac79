// Content encodings (RFC 9110 §8.4, §12.5.3): which files are worth compressing, and which form of one a request wants.
// Refuses: throwing, whatever the header. A weight that is none refuses its encoding, and a encoding refused once
// in a header is refused. Invariant: a client is never sent a encoding that it has not named as acceptable.

/** Best first; a tie in weight is decided in this order. */
export const contentEncodings = ['br', 'gzip'] as const;
export type ContentEncoding = (typeof contentEncodings)[number];

/** A form a file can be sent in. */
export type FileForm = ContentEncoding | 'identity';

/** Below this a precompressed body saves no packet; above, one file would occupy the compressing thread for too long. */
const smallestBytes = 512;
const largestBytes = 16 * 1024 * 1024;

/** What is compressed already is not listed: encoding it costs time and wins nothing. */
const compressible =
  /^(?:text\/|image\/svg\+xml|image\/bmp|image\/vnd\.microsoft\.icon|font\/[ot]tf|application\/(?:[a-z.+-]*(?:json|xml|yaml)|wasm|vnd\.ms-fontobject|x-ndjson))/;

/** Decided by name and size alone, so that `Vary` is the same before and after the precompressed variants exist. */
export function isWorthCompressing(contentType: string, sizeBytes: number): boolean {
  return sizeBytes >= smallestBytes && sizeBytes <= largestBytes && compressible.test(contentType);
}

const identityOnly: readonly FileForm[] = ['identity'];
const everything: readonly FileForm[] = ['br', 'gzip', 'identity'];

/**
 * The forms a request accepts, most wanted first. Without the header a client may know no encoding at all, so it gets
 * the file as it is. `identity` is missing only where it was refused.
 *
 * @param header `Accept-Encoding` as received
 */
export function acceptedForms(header: string | undefined): readonly FileForm[] {
  if (header === undefined) return identityOnly;
  const known = knownForms.get(header);
  if (known !== undefined) return known;
  const forms = rankForms(header);
  if (header.length <= longestKnown) {
    // A client may send a new value each time; what usual clients send comes again at once.
    if (knownForms.size >= mostKnown) knownForms.clear();
    knownForms.set(header, forms);
  }
  return forms;
}

/** By header: clients of one kind all send the same. */
const knownForms = new Map<string, readonly FileForm[]>();
const mostKnown = 64;
const longestKnown = 128;

function rankForms(header: string): readonly FileForm[] {
  const weights = readWeights(header);
  const others = weights.get('*');
  const ranked = everything.map((form) => ({
    form,
    weight: weights.get(form) ?? others ?? (form === 'identity' ? lastResort : 0),
  }));
  const forms = ranked
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ form }) => form);
  const key = forms.join();
  const ranking = rankings.get(key) ?? forms;
  rankings.set(key, ranking);
  return ranking;
}

/** One object for each order of forms, whatever header led to it; there are sixteen. */
const rankings = new Map<string, readonly FileForm[]>();

/** `identity` is acceptable unless refused (§12.5.3), after everything that was named. */
const lastResort = 0.0001;

/** No two neighbours take the same character: else blanks alone would be divided among them in every possible way. */
const element = /^[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*(?:;[ \t]*[qQ][ \t]*=([^;]*))?$/;
const weightText = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

function readWeights(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    const match = element.exec(part);
    if (match === null) continue;
    const [, name = '', text] = match;
    const lower = name.toLowerCase();
    const encoding = lower === 'x-gzip' ? 'gzip' : lower;
    const weight = text === undefined ? 1 : readWeight(text.trim());
    weights.set(encoding, weights.get(encoding) === 0 ? 0 : weight);
  }
  return weights;
}

function readWeight(text: string): number {
  return weightText.test(text) ? Number(text) : 0;
}
