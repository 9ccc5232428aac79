// Says whether a text from an export API contains a secret: the API key that the client sent, or a link with its query.
// Such a text never reaches status, events or logs. Refuses: other encodings than percent-encoding. An API that sets out
// to publish the keys it is sent can always do so; what is caught here is an API that repeats its request or a link.
// Invariant: the time is linear in the text.

/** An echo may be encoded as one path segment, and that again as a part of another address. */
const mostEncodings = 2;

/** @param key of any case in the text; empty for none */
export function containsSecret(text: string, key: string): boolean {
  let decoded = text;
  for (let round = 0; round <= mostEncodings; round += 1) {
    if (containsPlainly(decoded, key)) return true;
    if (!decoded.includes('%')) return false;
    decoded = decodeOnce(decoded);
  }
  return false;
}

/** A shorter key is in many an innocent word: only a text that is the key itself repeats it. */
const shortestPart = 8;

function containsPlainly(text: string, key: string): boolean {
  const folded = text.toLowerCase();
  if (key !== '' && folded === key.toLowerCase()) return true;
  if (key.length >= shortestPart && folded.includes(key.toLowerCase())) return true;
  const link = folded.search(/https?:\/\//);
  return link >= 0 && folded.includes('?', link);
}

/** Byte by byte, because keys are ASCII and a malformed sequence elsewhere must not hide one. */
function decodeOnce(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_encoded, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
