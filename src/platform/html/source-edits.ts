// Changes of a text that leave all of its other characters as they are. Pure. Invariant: edits are applied in the order of
// their positions, and none reaches into the next.

export interface SourceEdit {
  readonly at: number;
  /** Characters of the source that go. */
  readonly drop: number;
  readonly insert: string;
}

export const inOrder = (a: SourceEdit, b: SourceEdit): number => a.at - b.at;

/** @returns the edits in order, without those that begin within an earlier one */
export function apart(edits: readonly SourceEdit[]): readonly SourceEdit[] {
  let done = 0;
  return edits.toSorted(inOrder).filter(({ at, drop }) => {
    if (at < done) return false;
    done = at + drop;
    return true;
  });
}

/** @param edits in order, each at a position of its own */
export function applyEdits(source: string, edits: readonly SourceEdit[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { at, drop, insert } of edits) {
    pieces.push(source.slice(done, at), insert);
    done = at + drop;
  }
  return pieces.join('') + source.slice(done);
}
