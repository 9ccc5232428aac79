// The pack of a bundle, the pack of what was made of it, and its pages with their lines, read as one pack: every file of the
// extended index has its bytes at one position, whole or in part. Refuses to read across two of them.
// Invariant: a page is the bytes of the bundle with the line in between, and nothing of it is stored a second time.

import type { PackedBytes, StoredBundle } from '#bundle/store/stored-bundle.ts';
import { type ExtendedIndex, rowOfPage } from './additions.ts';

/** What is read of a page: a part of its source, and a part of its line. */
interface Cut {
  readonly source: PackedBytes;
  /** Bytes of the source in front of the line. */
  readonly front: number;
  readonly lineFrom: number;
  readonly lineTo: number;
}

/**
 * @param bundle whose check has proven every file. It stays open: its owner closes it
 * @param made the pack of made files, which is taken over
 */
export function createExtendedPack(
  bundle: StoredBundle,
  made: StoredBundle,
  { index, parts }: ExtendedIndex,
): StoredBundle {
  const { starts, sources, rows, lines, madeAt } = parts;
  const pagesAt = starts[0] ?? madeAt;

  const cut = ({ offset, size }: PackedBytes, into: Buffer): Cut => {
    const page = lastAtOrBefore(starts, offset);
    const start = starts[page] ?? 0;
    const end = starts[page + 1] ?? 0;
    if (into.length !== size || offset + size > end) {
      throw new RangeError(`${size} bytes at ${offset - start} are not in a page of ${end - start}`);
    }
    const row = rowOfPage(page);
    const [at = 0, lineAt = 0, lineSize = 0] = [rows[row + 1], rows[row + 2], rows[row + 3]];
    const before = offset - start;
    const lineFrom = within(before - at, lineSize);
    const lineTo = within(before + size - at, lineSize);
    const source = { offset: (sources[page] ?? 0) + before - lineFrom, size: size - (lineTo - lineFrom) };
    return { source, front: within(at - before, size), lineFrom: lineAt + lineFrom, lineTo: lineAt + lineTo };
  };
  const join = ({ front, lineFrom, lineTo }: Cut, into: Buffer): void => {
    into.copyWithin(0, lineTo - lineFrom, lineTo - lineFrom + front);
    lines.copy(into, front, lineFrom, lineTo);
  };
  const isOfBundle = ({ offset }: PackedBytes): boolean => offset < madeAt;
  const isMade = ({ offset }: PackedBytes): boolean => offset < pagesAt;
  const inMade = ({ offset, size }: PackedBytes): PackedBytes => ({ offset: offset - madeAt, size });

  return {
    index,
    activation: bundle.activation,
    proven: () => bundle.proven(),
    untilProven: (file) => (isOfBundle(file) ? bundle.untilProven(file) : undefined),
    readInto: async (file, into) => {
      if (isOfBundle(file)) return bundle.readInto(file, into);
      if (isMade(file)) return made.readInto(inMade(file), into);
      const one = cut(file, into);
      await bundle.readInto(one.source, into.subarray(one.lineTo - one.lineFrom));
      join(one, into);
    },
    readIntoSync: (file, into) => {
      if (isOfBundle(file)) return bundle.readIntoSync(file, into);
      if (isMade(file)) return made.readIntoSync(inMade(file), into);
      const one = cut(file, into);
      bundle.readIntoSync(one.source, into.subarray(one.lineTo - one.lineFrom));
      join(one, into);
    },
    // Of a page without its line: what it declares, and the bytes that show its encoding, may lie behind the line.
    readStart: async (file, into) => {
      if (isOfBundle(file)) return bundle.readStart(file, into);
      if (isMade(file)) return made.readStart(inMade(file), into);
      const page = lastAtOrBefore(starts, file.offset);
      const size = file.size - (rows[rowOfPage(page) + 3] ?? 0);
      await bundle.readStart({ offset: sources[page] ?? 0, size }, into.subarray(0, size));
      into.fill(' ', Math.min(size, into.length));
    },
    close: () => made.close(),
  };
}

const within = (value: number, most: number): number => Math.min(Math.max(value, 0), most);

/** The place of the last of these that is not greater. */
function lastAtOrBefore(starts: Float64Array, offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? offset) <= offset) low = middle;
    else high = middle;
  }
  return low;
}
