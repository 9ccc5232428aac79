// Keys to be added to the work queue later, and one timer for the first of them: ten thousand resources wait at the
// same time, and a timer for each costs kilobytes.
// Invariant: a key is due once, at its earliest time; of keys that are due together the first one put comes first.

import type { Clock } from '#platform/runtime/clock.ts';

interface Due {
  readonly key: string;
  /** By the monotonic clock. */
  readonly at: number;
  readonly order: number;
}

interface Timer {
  readonly at: number;
  readonly cancel: AbortController;
}

export class DelayedKeys {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #known = new Map<string, Due>();
  /** Latest first: the next key is taken from the end. */
  readonly #sorted: Due[] = [];
  #timer: Timer | undefined;
  #order = 0;

  /** @param onDue receives each key when it is due, after the key was forgotten. Must not throw */
  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#known.size;
  }

  keys(): readonly string[] {
    return [...this.#known.keys()];
  }

  /** Of several delays of a key the earliest counts. */
  put(key: string, delayMs: number): void {
    const at = this.#clock.monotonic() + delayMs;
    const known = this.#known.get(key);
    if (known !== undefined && known.at <= at) return;
    this.drop(key);
    this.#order += 1;
    const due: Due = { key, at, order: this.#order };
    this.#known.set(key, due);
    this.#sorted.splice(this.#positionOf(due), 0, due);
    this.#setTimer();
  }

  drop(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.#sorted.splice(this.#positionOf(known), 1);
  }

  clear(): void {
    this.#known.clear();
    this.#sorted.length = 0;
    this.#timer?.cancel.abort('cleared');
    this.#timer = undefined;
  }

  #addDue(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#sorted.at(-1); next !== undefined && next.at <= now; next = this.#sorted.at(-1)) {
      this.drop(next.key);
      this.#onDue(next.key);
    }
    this.#setTimer();
  }

  /** A timer that fires too early, because its key was dropped, finds nothing due and sets the next one. */
  #setTimer(): void {
    const next = this.#sorted.at(-1);
    if (next === undefined || (this.#timer !== undefined && this.#timer.at <= next.at)) return;
    // With a reason: without one, each abort would build an exception with its stack.
    this.#timer?.cancel.abort('an earlier key came');
    const timer: Timer = { at: next.at, cancel: new AbortController() };
    this.#timer = timer;
    void this.#clock.after(next.at - this.#clock.monotonic(), timer.cancel.signal).then(
      () => {
        if (this.#timer !== timer) return;
        this.#timer = undefined;
        this.#addDue();
      },
      () => {},
    );
  }

  /** Where the entry is, or where it belongs. */
  #positionOf(due: Due): number {
    let [from, to] = [0, this.#sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#sorted[middle];
      if (other !== undefined && isLater(other, due)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function isLater(one: Due, other: Due): boolean {
  return one.at > other.at || (one.at === other.at && one.order > other.order);
}
