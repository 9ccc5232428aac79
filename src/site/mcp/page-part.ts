// A part of a long text, so that each answer is short and an agent can read on. Pure. Invariant: parts in a row give the whole text, and
// none begins or ends within a character.

export interface TextPart {
  readonly text: string;
  readonly from: number;
  /** Where the next part begins; `undefined` at the end. */
  readonly next: number | undefined;
}

/** Of a part, at its end: where a line or a word may end it. */
const looseShare = 0.15;

/** @param from in UTF-16 code units; beyond the end, the part is empty */
export function partOf(text: string, from: number, most: number): TextPart {
  const start = withoutHalf(text, Math.min(from, text.length));
  if (text.length - start <= most) return { text: text.slice(start), from: start, next: undefined };
  const longest = text.slice(start, start + most);
  const least = Math.floor(most * (1 - looseShare));
  const breaks = [longest.lastIndexOf('\n') + 1, longest.lastIndexOf(' ') + 1];
  const wanted = start + (breaks.find((at) => at >= least) ?? most);
  const whole = withoutHalf(text, wanted);
  const next = whole > start ? whole : wanted + 1;
  return { text: text.slice(start, next), from: start, next };
}

/** One back, where the position is between the halves of a character. */
function withoutHalf(text: string, at: number): number {
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at));
  return isHalf ? at - 1 : at;
}
