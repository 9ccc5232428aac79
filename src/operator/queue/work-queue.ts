// Which keys wait to be reconciled, and when. A key is in the queue once however often it was added, and never with two
// workers at a time; of several delays the earliest counts.
// Invariant: a key added while it is reconciled is reconciled again afterwards; no added key is lost.

import type { Clock } from '#platform/runtime/clock.ts';
import { DelayedKeys } from './delayed-keys.ts';
import { HostQueues, higherOf, type Priority, type QueueSlots, type TakenKey } from './host-queues.ts';

/** A key with a longer delay is reconciled after this one, which costs one idle reconcile. */
export const longestDelayMs = 24 * 24 * 60 * 60 * 1000;

export interface QueueObserver {
  added(): void;
  /** Time from added to taken. */
  taken(waitedMs: number): void;
  /** Time from taken to done. */
  finished(workedMs: number): void;
}

export interface QueueFigures {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly longestActiveMs: number;
  /** Sum over all keys that are reconciled now. */
  readonly unfinishedMs: number;
}

export interface QueueOptions {
  readonly clock: Clock;
  readonly slots: QueueSlots;
  /** Keys of one host share its slots: the host of their export API. */
  readonly hostOf: (key: string) => string;
  readonly observer?: QueueObserver;
}

export class WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver | undefined;
  readonly #ready: HostQueues;
  readonly #delayed: DelayedKeys;
  readonly #active = new Map<string, { readonly takenAt: number; readonly taken: TakenKey }>();
  /** Added while they are reconciled. */
  readonly #again = new Map<string, Priority>();
  #idleWorkers: (() => void)[] = [];
  #closed = false;

  constructor({ clock, slots, hostOf, observer }: QueueOptions) {
    this.#clock = clock;
    this.#observer = observer;
    this.#ready = new HostQueues(hostOf, slots);
    this.#delayed = new DelayedKeys(clock, (key) => this.add(key, 'due'));
  }

  /** As soon as possible. Cancels a delay: the reconcile that comes says when the next one is due. */
  add(key: string, priority: Priority = 'edited'): void {
    if (this.#closed) return;
    this.#delayed.drop(key);
    if (this.#active.has(key)) {
      this.#again.set(key, higherOf(this.#again.get(key) ?? priority, priority));
      return;
    }
    if (this.#ready.put(key, priority, this.#clock.monotonic())) this.#observer?.added();
    // Also for a key that waited already: as an edit it may find a slot.
    this.#idleWorkers.shift()?.();
  }

  /** Not before `delayMs` unless added in the meantime. Zero or less is now: an overdue key must not wait. */
  addAfter(key: string, delayMs: number): void {
    if (this.#closed || this.#ready.has(key)) return;
    if (delayMs > 0) this.#delayed.put(key, Math.min(delayMs, longestDelayMs));
    else this.add(key, 'due');
  }

  /** Ends all delays, which are wrong after the clock was set; these keys come after more urgent ones. */
  addDelayed(): void {
    for (const key of this.#delayed.keys()) this.add(key, 'listed');
  }

  /** The next key, which is the caller's until `done`; `undefined` once closed. */
  async take(): Promise<string | undefined> {
    while (!this.#closed) {
      const taken = this.#ready.take();
      if (taken !== undefined) {
        const takenAt = this.#clock.monotonic();
        this.#active.set(taken.key, { takenAt, taken });
        this.#observer?.taken(takenAt - taken.since);
        return taken.key;
      }
      await new Promise<void>((resolve) => {
        this.#idleWorkers.push(resolve);
      });
    }
    return undefined;
  }

  done(key: string): void {
    const active = this.#active.get(key);
    if (active === undefined) return;
    this.#active.delete(key);
    this.#ready.finish(active.taken);
    this.#observer?.finished(this.#clock.monotonic() - active.takenAt);
    const priority = this.#again.get(key);
    if (this.#again.delete(key) && priority !== undefined) this.add(key, priority);
    // A slot is free, and a key may wait for it.
    if (this.#ready.size > 0) this.#idleWorkers.shift()?.();
  }

  /** Hands out no more keys and drops all delays; active keys stay active until `done`. */
  close(): void {
    this.#closed = true;
    this.#delayed.clear();
    this.#ready.clear();
    for (const wake of this.#idleWorkers.splice(0)) wake();
  }

  figures(): QueueFigures {
    const now = this.#clock.monotonic();
    const ages = [...this.#active.values()].map(({ takenAt }) => now - takenAt);
    return {
      waiting: this.#ready.size,
      active: this.#active.size,
      delayed: this.#delayed.size,
      longestActiveMs: Math.max(0, ...ages),
      unfinishedMs: ages.reduce((sum, age) => sum + age, 0),
    };
  }
}
