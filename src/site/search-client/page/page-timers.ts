// What a page lends of its time, so that what waits can be tested without waiting. A type only. Refuses clocks: the search compares no
// two moments.

export interface PageTimers {
  /** @returns a function that cancels it */
  after(milliseconds: number, run: () => void): () => void;
  /** When the page has nothing else to do. */
  whenIdle(run: () => void): void;
}
