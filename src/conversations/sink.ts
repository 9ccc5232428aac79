// Where turns go, as the run sees it. Types only. A sink is idempotent: what a killed run wrote and did not commit is
// written again, and is there once.

import type { Turn } from './turn.ts';
import type { ReadWindows } from './windows.ts';

/** What the next run goes on from, where the other side of the sink keeps the state. */
export interface Bookmark {
  readonly windows: ReadWindows;
  /** Length of the next window, from what the last ones held. */
  readonly stepMs: number | undefined;
  /** Start of a cycle that did not end, epoch ms. */
  readonly cycle: number | undefined;
}

export interface Sink {
  /** Of one page, in the order of the export API. Keys may have been written before. */
  write(turns: readonly Turn[]): Promise<void>;
  /** True where it holds so many turns that they are to be flushed before a window ends. */
  isFull(): boolean;
  /**
   * Resolves when all that was written survives a loss of power, or was taken by the other side.
   * @returns sizes of the files that changed, for the same commit
   */
  flush(): Promise<ReadonlyMap<string, number>>;
  /** A window was read and committed, or the run has ended. */
  keepBookmark?(bookmark: Bookmark): Promise<void>;
  /** After a failure too. */
  close(): Promise<void>;
}

/** Sizes of files, as the state knows them. */
export interface PartLedger {
  partSize(name: string): number | undefined;
  registerPart(name: string): void;
  committedParts(): number;
}
