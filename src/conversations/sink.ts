// Where turns go, as the run sees it. Types only. A sink is idempotent: what a killed run wrote and did not commit is
// written again, and is there once.

import type { Turn } from './turn.ts';
import type { ReadWindows } from './windows.ts';

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
  /** A window was read and committed. */
  windowClosed?(windows: ReadWindows): Promise<void>;
  /** After a failure too. */
  close(): Promise<void>;
}

/** Sizes of files, as the state knows them. */
export interface PartLedger {
  partSize(name: string): number | undefined;
  registerPart(name: string): void;
  committedParts(): number;
}
