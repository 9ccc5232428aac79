// Which keys wait to be looked at, and when. A key is in the queue once however often it was added, and never
// with two workers at a time; of several delayed looks the earliest wins. Time is a Clock's.
// Invariant: a key added while its pass runs is looked at again after it; nothing added is lost.

import type { Clock } from '../../runtime/clock.ts';
import { DueKeys } from './due-keys.ts';
import { type LaneOptions, type Taken, type Urgency, urgencies, WaitingKeys } from './waiting-keys.ts';

/** No timer is longer at once; who waits longer looks earlier, which costs one idle pass. */
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
  /** Sum over all keys under way. */
  readonly unfinishedMs: number;
}

const silent: QueueObserver = { added: () => {}, taken: () => {}, finished: () => {} };
const oneLane: LaneOptions = {
  laneOf: () => '',
  width: Number.POSITIVE_INFINITY,
  total: Number.POSITIVE_INFINITY,
  editPlaces: 0,
};

export class WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver;
  readonly #ready: WaitingKeys;
  readonly #active = new Map<string, { readonly takenAt: number; readonly taken: Taken }>();
  readonly #again = new Map<string, Urgency>();
  readonly #later: DueKeys;
  #waiters: (() => void)[] = [];
  #closed = false;

  constructor(clock: Clock, observer: QueueObserver = silent, lanes: LaneOptions = oneLane) {
    this.#clock = clock;
    this.#observer = observer;
    this.#ready = new WaitingKeys(lanes);
    this.#later = new DueKeys(clock, (key) => this.add(key, 'due'));
  }

  /** As soon as possible. Cancels a delayed look: the pass that comes says when the next is due. */
  add(key: string, urgency: Urgency = 'edited'): void {
    if (this.#closed) return;
    this.#later.drop(key);
    if (this.#active.has(key)) {
      const known = this.#again.get(key) ?? urgency;
      this.#again.set(key, urgencies.indexOf(known) < urgencies.indexOf(urgency) ? known : urgency);
      return;
    }
    if (this.#ready.put(key, urgency, this.#clock.monotonic())) this.#observer.added();
    // Also where it waited already: an edit may go where there was no place for it before.
    this.#waiters.shift()?.();
  }

  /** Not before `delayMs` unless added in the meantime. Zero or less is now: what is overdue must not wait. */
  addAfter(key: string, delayMs: number): void {
    if (this.#closed || this.#ready.has(key)) return;
    if (!(delayMs > 0)) {
      this.add(key, 'due');
      return;
    }
    this.#later.put(key, Math.min(delayMs, longestDelayMs));
  }

  /** All that waits for its time is looked at as soon as there is nothing more urgent: time is not what it was. */
  hurry(): void {
    for (const key of this.#later.keys()) this.add(key, 'listed');
  }

  /** The next key, which is the caller's until `done`; `undefined` once closed. */
  async take(): Promise<string | undefined> {
    for (;;) {
      if (this.#closed) return undefined;
      const next = this.#ready.take();
      if (next !== undefined) {
        const takenAt = this.#clock.monotonic();
        this.#active.set(next.key, { takenAt, taken: next });
        this.#observer.taken(takenAt - next.since);
        return next.key;
      }
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
      });
    }
  }

  done(key: string): void {
    const active = this.#active.get(key);
    if (active === undefined) return;
    this.#active.delete(key);
    this.#ready.finish(active.taken);
    this.#observer.finished(this.#clock.monotonic() - active.takenAt);
    const urgency = this.#again.get(key);
    if (this.#again.delete(key) && urgency !== undefined) this.add(key, urgency);
    // A place in the lane is free: somebody may wait for just that.
    if (this.#ready.size > 0) this.#waiters.shift()?.();
  }

  /** Nothing is handed out any more, timers are gone; keys under way stay so until `done`. */
  close(): void {
    this.#closed = true;
    this.#later.clear();
    this.#ready.clear();
    for (const wake of this.#waiters.splice(0)) wake();
  }

  figures(): QueueFigures {
    const now = this.#clock.monotonic();
    const ages = [...this.#active.values()].map(({ takenAt }) => now - takenAt);
    return {
      waiting: this.#ready.size,
      active: this.#active.size,
      delayed: this.#later.size,
      longestActiveMs: Math.max(0, ...ages),
      unfinishedMs: ages.reduce((sum, age) => sum + age, 0),
    };
  }
}
