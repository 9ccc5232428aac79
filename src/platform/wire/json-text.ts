// JSON text from a disk or a network, for readers that then check its shape, and JSON text for others. Refuses nothing and
// throws nothing: text that is not JSON gives a value that no shape accepts. Invariant: what is written holds no half of a
// surrogate pair, because most readers refuse the whole text for one.

type Revive = (name: string, value: unknown) => unknown;

/** @returns `undefined` for absent text, and for text that is not JSON */
export function readJson(text: string | undefined, revive?: Revive): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text, revive);
  } catch {
    return undefined;
  }
}

/** A half of a surrogate pair becomes U+FFFD, as in UTF-8. For the second argument of JSON's functions. */
export const wellFormedText: Revive = (_name, value) =>
  typeof value === 'string' ? value.toWellFormed() : value;

/** JSON.stringify writes a half of a pair this way, and nothing else. An escaped backslash may stand before it. */
const halfPairs = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** JSON of a value whose texts and names come from elsewhere. A half of a surrogate pair becomes U+FFFD, as in UTF-8. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(halfPairs, '$1\ufffd');
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
