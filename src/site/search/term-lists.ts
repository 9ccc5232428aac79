// The terms of an index as the sorted lists of its files, searched where they lie: nothing is built of them, because a tree of 13,000
// terms takes a browser longer than the first answer may. Imports nothing. Invariant: what is found depends on the terms alone.

/** Within one list, from one position to another. */
export interface TermRange {
  readonly from: number;
  readonly to: number;
}

/** @param terms sorted by UTF-16 code units @returns -1 for a term that the list does not have */
export function positionOf(terms: readonly string[], term: string): number {
  const at = firstNotBefore(terms, term);
  return terms[at] === term ? at : -1;
}

/** Terms that begin with the prefix, itself included. */
export function rangeOfPrefix(terms: readonly string[], prefix: string): TermRange {
  const from = firstNotBefore(terms, prefix);
  let [low, high] = [from, terms.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (terms[middle]?.startsWith(prefix) === true) low = middle + 1;
    else high = middle;
  }
  return { from, to: low };
}

function firstNotBefore(terms: readonly string[], term: string): number {
  let [low, high] = [0, terms.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((terms[middle] ?? '') < term) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Visits terms that differ from a word in at most so many letters: added, left out or replaced. Takes steps for each beginning of a term that
 * may still become one of these.
 */
export function eachNearTerm(
  terms: readonly string[],
  word: string,
  maxDistance: number,
  visit: (at: number, distance: number) => void,
): void {
  const width = word.length + 1;
  /** Row `n`: distances of the first `n` letters of a term from each beginning of the word. */
  const rows: number[] = Array.from({ length: width }, (_, at) => at);
  let before = '';
  /** Rows that hold for the term before, its empty beginning included. */
  let known = 1;
  let at = 0;
  while (at < terms.length) {
    const term = terms[at] ?? '';
    let row = Math.min(known - 1, commonLength(before, term));
    let isNear = true;
    while (row < term.length && isNear) {
      row += 1;
      isNear = fillRow(rows, row, term.charCodeAt(row - 1), word, maxDistance);
    }
    before = term;
    known = row + 1;
    if (isNear) {
      const distance = rows[row * width + word.length] ?? 0;
      if (distance <= maxDistance) visit(at, distance);
      at += 1;
    } else {
      // No term with this beginning is near.
      at += Math.max(1, rangeFrom(terms, at, term.slice(0, row)));
    }
  }
}

/** @returns whether a longer beginning may still be near */
function fillRow(rows: number[], row: number, letter: number, word: string, maxDistance: number): boolean {
  const width = word.length + 1;
  const own = row * width;
  const above = own - width;
  let least = row;
  rows[own] = row;
  for (let at = 1; at < width; at += 1) {
    const replaced = (rows[above + at - 1] ?? 0) + (word.charCodeAt(at - 1) === letter ? 0 : 1);
    const distance = Math.min(replaced, (rows[above + at] ?? 0) + 1, (rows[own + at - 1] ?? 0) + 1);
    rows[own + at] = distance;
    if (distance < least) least = distance;
  }
  return least <= maxDistance;
}

function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return length;
}

/** How many terms from a position on have the prefix. Looks ahead in growing steps, because most often these are few. */
function rangeFrom(terms: readonly string[], from: number, prefix: string): number {
  let step = 1;
  while (terms[from + step]?.startsWith(prefix) === true) step *= 2;
  let [low, high] = [from + Math.floor(step / 2), Math.min(from + step, terms.length)];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (terms[middle]?.startsWith(prefix) === true) low = middle + 1;
    else high = middle;
  }
  return low - from;
}
