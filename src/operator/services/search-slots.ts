// The slot of threads that make a search: one at a time, because each takes as much memory as several inspections. Owners wait in a fair
// order. Refuses none. Invariant: the slot is free when the work that took it ends, also where that work ends while it waits.

import { FairQueue } from '#platform/runtime/fair-queue.ts';

export interface SearchSlot {
  /** Resolves when no other search is made. @throws the reason of the signal, or of the work's end */
  begin(): Promise<void>;
  /** Lets the next one begin. Works once, and ends a wait. */
  end(): void;
}

export class SearchSlots {
  readonly #waiting = new FairQueue<true>();
  #isTaken = false;

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes nothing before `begin`. */
  open(owner: string, signal: AbortSignal): SearchSlot {
    const ended = new AbortController();
    const stop = AbortSignal.any([signal, ended.signal]);
    let isHeld = false;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#isTaken = this.#waiting.grantNext(() => true);
    };
    return {
      begin: async () => {
        stop.throwIfAborted();
        if (this.#isTaken) await this.#waiting.wait(owner, stop);
        this.#isTaken = true;
        isHeld = true;
        // The work ended right after it got the slot.
        if (stop.aborted) release();
      },
      end: () => {
        ended.abort();
        release();
      },
    };
  }
}
