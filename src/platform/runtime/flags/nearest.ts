// Which known name a mistyped one means: the one with the fewest edits. Pure. Refuses: a guess beyond the number of edits
// that the caller allows.

/** @returns the name with the fewest edits, if they are at most `mostEdits` */
export function nearest(word: string, names: readonly string[], mostEdits: number): string | undefined {
  const [best] = names
    .map((name) => ({ name, edits: editDistance(word, name) }))
    .sort((a, b) => a.edits - b.edits);
  return best !== undefined && best.edits <= mostEdits ? best.name : undefined;
}

/** Levenshtein, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
