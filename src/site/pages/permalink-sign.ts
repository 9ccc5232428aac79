// What generators write as a link of a heading, a term or a note to itself: a sign, or nothing that is seen. Owns the signs. Refuses words:
// a heading may link to itself with all of its text.

/** U+F0C1 is a chain in a font of Read the Docs. Variants of signs for text and for pictures follow them. */
const sign = /^(?:[\s#¶§↩◆⚓⛓\u{200b}\u{2060}\u{feff}\u{f0c1}\u{1f517}]|[\u{fe0e}\u{fe0f}])*$/u;
const longestSign = 16;

/** @param text of a link; an empty one is a sign too */
export function isPermalinkSign(text: string): boolean {
  return text.length <= longestSign && sign.test(text);
}
