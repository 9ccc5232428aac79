// What a server adds to a bundle that it serves: files that were made from its pages, and a line in each page that can take it. As
// rows of numbers, which a thread hands over without a copy, and as the index of all files that are then served.
// Refuses: rows that are not of this bundle.

import { type BundleFile, type BundleIndex, heldFiles, isHeld } from '#bundle/bundle-index.ts';

/** A page with its line. */
export interface LinedPage {
  /** Of the page in the bundle's index. */
  readonly ordinal: number;
  /** The byte of the page before which the line stands. */
  readonly at: number;
  /** Where the line is among the lines. */
  readonly lineAt: number;
  readonly lineSize: number;
  /** Of the page with its line. */
  readonly sha256: string;
}

/** A made file; its offset is in the pack of made files. */
export type MadeRow = Pick<BundleFile, 'path' | 'offset' | 'size' | 'sha256'>;

/** In the order in which their files are made. */
export const madeFeatures = ['search', 'markdown'] as const;
/** What a server may add to a site. */
export type MadeFeature = (typeof madeFeatures)[number];

/** Of one feature. */
export interface MadeCounts {
  readonly files: number;
  /** Pages that load the search, or have Markdown. */
  readonly pages: number;
  /** On disk. */
  readonly sizeBytes: number;
}

export interface ExtensionCounts {
  readonly search: MadeCounts;
  /** `leftOutPages` are too large to be read. */
  readonly markdown: MadeCounts & { readonly leftOutPages: number };
}

const none: MadeCounts = { files: 0, pages: 0, sizeBytes: 0 };
/** Of a bundle that is served as it is. */
export const noCounts: ExtensionCounts = { search: none, markdown: { ...none, leftOutPages: 0 } };

/** By ordinal, and by path. */
export interface AdditionRows {
  readonly pages: readonly LinedPage[];
  readonly files: readonly MadeRow[];
  /** ASCII. Pages with the same line share it. */
  readonly lines: string;
  readonly packBytes: number;
}

/** The same in shared memory. */
export interface Additions {
  readonly pages: Float64Array;
  readonly files: Float64Array;
  /** Of the pages, then of the files. */
  readonly hashes: Uint8Array;
  /** Of the files, each with a line feed behind it. */
  readonly paths: string;
  readonly lines: Uint8Array;
  readonly packBytes: number;
}

const numbersPerPage = 4;
const numbersPerFile = 2;
const hashBytes = 32;

export function packAdditions({ pages, files, lines, packBytes }: AdditionRows): Additions {
  const hashes = new Uint8Array(new SharedArrayBuffer((pages.length + files.length) * hashBytes));
  for (const [at, { sha256 }] of [...pages, ...files].entries()) {
    hashes.set(Buffer.from(sha256, 'hex'), at * hashBytes);
  }
  return {
    pages: sharedNumbers(
      pages.flatMap(({ ordinal, at, lineAt, lineSize }) => [ordinal, at, lineAt, lineSize]),
    ),
    files: sharedNumbers(files.flatMap(({ offset, size }) => [offset, size])),
    hashes,
    paths: files.map(({ path }) => `${path}\n`).join(''),
    lines: sharedBytes(Buffer.from(lines, 'latin1')),
    packBytes,
  };
}

function sharedBytes(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

function sharedNumbers(values: readonly number[]): Float64Array {
  const shared = new Float64Array(new SharedArrayBuffer(values.length * Float64Array.BYTES_PER_ELEMENT));
  shared.set(values);
  return shared;
}

/** Where the parts of pages with lines come from. Positions are of the pack that is read as one: see `extended-pack.ts`. */
export interface PageParts {
  /** Where each page begins, and where the last one ends. */
  readonly starts: Float64Array;
  /** Where the page without its line begins. */
  readonly sources: Float64Array;
  /** As {@link Additions.pages}. */
  readonly rows: Float64Array;
  readonly lines: Buffer;
  /** Where the pack of made files begins. */
  readonly madeAt: number;
}

export interface ExtendedIndex {
  /** Of the same digest: it still names the bundle. */
  readonly index: BundleIndex;
  readonly parts: PageParts;
}

const bufferOver = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Positions of one page's row in {@link PageParts.rows}. */
export const rowOfPage = (page: number): number => page * numbersPerPage;

/**
 * Yields after each file, so that a large site is done in slices.
 *
 * @returns `undefined` where the additions are not of this bundle
 */
export function* extendIndex(
  index: BundleIndex,
  { pages, files: numbers, hashes, paths, lines, packBytes }: Additions,
): Generator<void, ExtendedIndex | undefined> {
  const pageCount = pages.length / numbersPerPage;
  const madeCount = numbers.length / numbersPerFile;
  if (hashes.length !== (pageCount + madeCount) * hashBytes) return undefined;
  const hashAt = (at: number): string =>
    Buffer.from(hashes.buffer, hashes.byteOffset + at * hashBytes, hashBytes).toString('hex');
  const madeAt = heldFiles(index.files).reduce((end, { offset, size }) => Math.max(end, offset + size), 0);
  const starts = new Float64Array(pageCount + 1);
  const sources = new Float64Array(pageCount);
  const files: BundleFile[] = [];
  let end = madeAt + packBytes;
  let page = 0;
  let made = 0;
  let pathAt = 0;
  const nextPath = (): string => paths.slice(pathAt, paths.indexOf('\n', pathAt));
  let path = nextPath();

  const addMadeBefore = function* (limit: string | undefined): Generator<void> {
    while (made < madeCount && (limit === undefined || path < limit)) {
      const row = made * numbersPerFile;
      const offset = madeAt + (numbers[row] ?? 0);
      files.push({ path, offset, size: numbers[row + 1] ?? 0, sha256: hashAt(pageCount + made) });
      pathAt += path.length + 1;
      made += 1;
      path = nextPath();
      yield;
    }
  };

  for (const [ordinal, file] of index.files.entries()) {
    yield;
    yield* addMadeBefore(file.path);
    if (made < madeCount && path === file.path) return undefined;
    const row = rowOfPage(page);
    if (page >= pageCount || pages[row] !== ordinal) {
      files.push(file);
      continue;
    }
    const size = file.size + (pages[row + 3] ?? 0);
    if (!isHeld(file) || (pages[row + 1] ?? 0) > file.size) return undefined;
    files.push({ ...file, offset: end, size, sha256: hashAt(page) });
    starts[page] = end;
    sources[page] = file.offset;
    end += size;
    page += 1;
  }
  yield* addMadeBefore(undefined);
  starts[pageCount] = end;
  if (page < pageCount) return undefined;
  const parts = { starts, sources, rows: pages, lines: bufferOver(lines), madeAt };
  return { index: { ...index, files }, parts };
}
