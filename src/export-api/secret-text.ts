// Says whether a text from an export API contains a secret: the API key that the client sent, or a link with its
// query. Such a text never reaches status, events or logs. Refuses: encodings other than percent-encoding. It
// detects an export API that repeats its request or a link. It cannot stop an export API that publishes received
// keys on purpose. Invariant: the time is linear in the text.

import { excerptOf } from '#platform/wire/foreign-words.ts';

/** A repeated key may be encoded as one path segment, and that path again as part of another URL. */
const mostEncodings = 2;

/**
 * The words of an export API as an excerpt. A text that repeats the key is left out whole.
 *
 * @param key empty for none
 */
export function shownWords(text: string | undefined, key: string): string | undefined {
  if (text === undefined || repeatsKey(text, key)) return undefined;
  return excerptOf(text);
}

function repeatsKey(text: string, key: string): boolean {
  return everyDecoding(text).some((decoded) => holdsKey(decoded, key));
}

/** @param key of any case in the text; empty for none */
export function containsSecret(text: string, key: string): boolean {
  return everyDecoding(text).some((decoded) => holdsKey(decoded, key) || holdsLink(decoded));
}

function everyDecoding(text: string): readonly string[] {
  const found = [text];
  for (let round = 0, at = text; round < mostEncodings && at.includes('%'); round += 1) {
    at = decodeOnce(at);
    found.push(at);
  }
  return found;
}

/** A shorter key occurs in many harmless words. Only a text that equals the key counts as the key. */
const shortestPart = 8;

function holdsKey(text: string, key: string): boolean {
  const folded = text.toLowerCase();
  if (key !== '' && folded === key.toLowerCase()) return true;
  return key.length >= shortestPart && folded.includes(key.toLowerCase());
}

function holdsLink(text: string): boolean {
  const folded = text.toLowerCase();
  const link = folded.search(/https?:\/\//);
  return link >= 0 && folded.includes('?', link);
}

/** Byte by byte, because keys are ASCII and a malformed sequence elsewhere must not hide a key. */
function decodeOnce(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_encoded, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
