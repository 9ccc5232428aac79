// Parses JSON text from a disk or a network, for readers that then check its shape. Refuses nothing and throws
// nothing: text that is not JSON gives a value that no shape accepts.

/** @returns `undefined` for absent text, and for text that is not JSON */
export function readJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
