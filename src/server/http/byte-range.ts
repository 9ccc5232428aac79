// The `Range` header (RFC 9110 §14): which part of a file is wanted, if exactly one is.
// Refuses: throwing, whatever the text or the numbers. What is not a single valid range of bytes is answered
// with the whole file, as the RFC allows, except a range that starts behind the end.

export type ByteRange =
  /** Not an honoured range (absent, other unit, several, malformed): send everything. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly endExclusive: number }
  /** Well-formed and outside of the file: 416. */
  | { readonly kind: 'unsatisfiable' };

const whole: ByteRange = { kind: 'whole' };
const unsatisfiable: ByteRange = { kind: 'unsatisfiable' };

/**
 * @param header as received
 * @param size of the file in bytes
 */
export function readByteRange(header: string | undefined, size: number): ByteRange {
  if (header === undefined) return whole;
  const match = /^[ \t]*bytes[ \t]*=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header);
  if (match === null) return whole;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? whole : suffix(Number(last), size);
  // Numbers of any length: beyond 2^53 they lose digits, but never become smaller than a file's size.
  const start = Number(first);
  if (last !== '' && isBelow(last, first)) return whole;
  if (start >= size) return unsatisfiable;
  const endExclusive = last === '' ? size : Math.min(Number(last) + 1, size);
  return { kind: 'part', start, endExclusive };
}

function suffix(length: number, size: number): ByteRange {
  if (length === 0 || size === 0) return unsatisfiable;
  return { kind: 'part', start: Math.max(0, size - length), endExclusive: size };
}

function isBelow(a: string, b: string): boolean {
  return BigInt(a) < BigInt(b);
}
