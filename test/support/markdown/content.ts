// What of a page must be in its Markdown, in a form that two readers can compare.

export interface Content {
  /** Level and text. */
  readonly headings: readonly string[];
  /** Language, a line break, and the text. */
  readonly code: readonly string[];
  /** Rows of cells that are not empty, as JSON. */
  readonly tables: readonly string[];
  /** Address and text. */
  readonly links: readonly string[];
  readonly text: string;
}

export const withoutBlanks = (text: string): string => text.replace(/[\s\u{200b}]+/gu, '');

/** What of `wanted` is not in `found`, each as often as it is wanted. */
export function missingFrom(found: readonly string[], wanted: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const one of found) counts.set(one, (counts.get(one) ?? 0) + 1);
  return wanted.filter((one) => {
    const count = counts.get(one) ?? 0;
    counts.set(one, count - 1);
    return count <= 0;
  });
}
