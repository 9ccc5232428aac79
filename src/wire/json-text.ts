// JSON text from a disk or a wire as a value, for readers that go on to check its shape.
// Refuses nothing and throws nothing: what is no JSON is a value that no shape accepts.

/** @returns `undefined` for no text, and for what is not JSON */
export function readJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
