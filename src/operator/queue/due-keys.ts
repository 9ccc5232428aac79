// Keys that are to be looked at later: a heap by due time, and one timer for the first of them. Ten thousand
// resources wait at the same time, and a timer of its own for each, with what cancels it, costs kilobytes.
// Invariant: a key is due once, at its earliest time; of those that are due together the first added comes first.

import type { Clock } from '../../runtime/clock.ts';

interface Due {
  readonly key: string;
  /** By the monotonic clock. */
  readonly at: number;
  readonly order: number;
}

interface Alarm {
  readonly at: number;
  readonly cancel: AbortController;
}

/** Dropped keys stay in the heap until it has twice as many entries as keys, and these. */
const spareEntries = 64;

export class DueKeys {
  readonly #clock: Clock;
  readonly #ring: (key: string) => void;
  readonly #known = new Map<string, Due>();
  #heap: Due[] = [];
  #alarm: Alarm | undefined;
  #order = 0;

  /** @param ring told of each key when it is due, which is then forgotten. Must not throw */
  constructor(clock: Clock, ring: (key: string) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  get size(): number {
    return this.#known.size;
  }

  keys(): readonly string[] {
    return [...this.#known.keys()];
  }

  /** Not before `delayMs`. Of several times the earliest stays. */
  put(key: string, delayMs: number): void {
    const at = this.#clock.monotonic() + delayMs;
    const known = this.#known.get(key);
    if (known !== undefined && known.at <= at) return;
    this.#order += 1;
    const due: Due = { key, at, order: this.#order };
    this.#known.set(key, due);
    this.#push(due);
    this.#setAlarm();
  }

  drop(key: string): void {
    if (!this.#known.delete(key)) return;
    if (this.#heap.length <= 2 * this.#known.size + spareEntries) return;
    // A sorted array is a heap.
    this.#heap = [...this.#known.values()].sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  clear(): void {
    this.#known.clear();
    this.#heap = [];
    this.#alarm?.cancel.abort('cleared');
    this.#alarm = undefined;
  }

  #ringDue(): void {
    const now = this.#clock.monotonic();
    for (let first = this.#first(); first !== undefined && first.at <= now; first = this.#first()) {
      this.#pop();
      this.#known.delete(first.key);
      this.#ring(first.key);
    }
    this.#setAlarm();
  }

  /** The first that was not dropped, or replaced by an earlier one, meanwhile. */
  #first(): Due | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || this.#known.get(first.key) === first) return first;
      this.#pop();
    }
  }

  /** An alarm that is too early rings for nobody, and sets the next. */
  #setAlarm(): void {
    const first = this.#first();
    if (first === undefined || (this.#alarm !== undefined && this.#alarm.at <= first.at)) return;
    // With a reason of its own: without one, each would build an exception with its stack.
    this.#alarm?.cancel.abort('an earlier one came');
    const alarm: Alarm = { at: first.at, cancel: new AbortController() };
    this.#alarm = alarm;
    void this.#clock.after(first.at - this.#clock.monotonic(), alarm.cancel.signal).then(
      () => {
        if (this.#alarm !== alarm) return;
        this.#alarm = undefined;
        this.#ringDue();
      },
      () => {},
    );
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, due)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const below = isRight ? right : left;
      if (below === undefined || isBefore(last, below)) break;
      heap[at] = below;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
  }
}

function isBefore(one: Due, other: Due): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
