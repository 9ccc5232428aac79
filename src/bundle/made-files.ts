// Files that are made from the pages of a bundle, such as the index of its search. They lie beside the bundle: its own bytes and its
// digest stay. Invariant: the same bundle and the same maker give the same files, in the same order, on any machine.

import type { StoredBundle } from './store/stored-bundle.ts';

/** A file that a maker adds to a bundle. `path` is as in an index: no leading slash, no empty, `.` or `..` segment. */
export interface MadeFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface MakeContext {
  readonly signal: AbortSignal;
  /** After each page, with how many are read of how many. */
  readonly onFile?: ((done: number, of: number) => void) | undefined;
  /** Awaited after each page: the thread may take a share of a core alone, and minutes may pass between two files. */
  readonly rest?: (() => Promise<void>) | undefined;
}

/**
 * Reads the pages of a bundle one at a time. A maker takes processor time: it runs in a thread.
 *
 * @returns each path once; none that the bundle has
 * @throws the signal's reason, and what reading the bundle throws
 */
export type MakeFiles = (bundle: StoredBundle, context: MakeContext) => AsyncIterable<MadeFile>;
