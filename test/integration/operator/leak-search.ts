// Searches a value for secrets: plain strings, strings decoded from base64 and percent-encoding, and JSON inside
// strings, at any depth. Reports the path, never the secret.

/** Long enough that a match is not a coincidence. */
const minEncodedChars = 8;
const maxDepth = 12;

/** Paths that hold one of the needles. */
export function findLeaks(
  value: unknown,
  needles: readonly string[],
  path = '$',
  depth = 0,
): readonly string[] {
  if (depth > maxDepth || value === null || value === undefined) return [];
  if (typeof value === 'string') return inText(value, needles, path, depth);
  if (value instanceof Error) {
    return findLeaks(
      { ...value, message: value.message, stack: value.stack, cause: value.cause },
      needles,
      path,
      depth + 1,
    );
  }
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...inText(name, needles, `${path}.(name)`, depth + 1),
    ...findLeaks(inner, needles, `${path}.${name}`, depth + 1),
  ]);
}

function inText(text: string, needles: readonly string[], path: string, depth: number): readonly string[] {
  if (needles.some((needle) => text.includes(needle))) return [path];
  return readings(text).flatMap(([how, inner]) => findLeaks(inner, needles, `${path}(${how})`, depth + 1));
}

/** The text's other decodings. */
function readings(text: string): readonly (readonly [how: string, value: unknown])[] {
  const found: (readonly [string, unknown])[] = [];
  if (/%[0-9A-Fa-f]{2}/.test(text)) found.push(['percent', decodePercent(text)]);
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{8,}={0,2}/g)) {
    if (run.length < minEncodedChars) continue;
    const decoded = Buffer.from(run, 'base64').toString('utf8');
    // Bytes that are not text were not base64 of a text.
    if (!decoded.includes('\uFFFD')) found.push(['base64', decoded]);
  }
  if (/^\s*[[{]/.test(text)) {
    try {
      found.push(['json', JSON.parse(text)]);
    } catch {
      // The text is not JSON.
    }
  }
  return found;
}

function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}
