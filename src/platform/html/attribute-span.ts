// Where the value of an attribute stands in the source of its page, and the value as written. Refuses tags that were read without locations.
// Invariant: the span begins behind the opening quote, so that a text can be inserted there.

import type { TagToken } from './html-tokens.ts';

export interface AttributeSpan {
  readonly from: number;
  /** Behind the closing quote, where there is one. */
  readonly to: number;
}

/** From behind the opening quote to behind the closing one; `undefined` for an attribute that the tag does not have. */
export function attributeSpan(source: string, tag: TagToken, name: string): AttributeSpan | undefined {
  const { startOffset = 0, endOffset = 0 } = tag.location?.attrs?.[name] ?? {};
  const opening = /^[^\s=]+\s*=\s*["']?/.exec(source.slice(startOffset, endOffset))?.[0].length;
  return opening === undefined ? undefined : { from: startOffset + opening, to: endOffset };
}

/** A value as written, with quotes as such, and blanks for the rest of their references: every other character keeps its position. */
export function withQuotes(raw: string): string {
  return raw.replace(/&(?:quot|apos|#0{0,4}3[49]|#x0{0,4}2[27]);/gi, (reference) =>
    (/quot|34|22/.test(reference) ? '"' : "'").padEnd(reference.length),
  );
}
