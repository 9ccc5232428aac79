// Lists from time to time while a watch runs, and counts changes that only the list found; what the watch was about to
// bring is not counted. An audit that cannot list is an outage: until it can, lost changes go unnoticed.

import type { Clock } from '#platform/runtime/clock.ts';
import type { Random } from '#platform/runtime/random.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { Listed } from '../objects/resource-list.ts';
import type { ObjectCache, Remembered } from './object-cache.ts';
import { type Outage, troubleOf } from './outage.ts';

export interface AuditContext<T extends Remembered> {
  readonly cache: ObjectCache<T>;
  readonly list: (signal: AbortSignal) => Promise<Listed<T>>;
  readonly outage: Outage;
  readonly clock: Clock;
  readonly random: Random;
}

const minuteMs = 60_000;
/** Time for the watch to bring what the list saw. */
const graceMs = 10_000;

export class WatchAudit<T extends Remembered> {
  readonly #context: AuditContext<T>;
  /** Outlives connections, which last ten minutes at most. */
  #dueAt = Number.POSITIVE_INFINITY;
  /** Keys of events since the present audit began. */
  #touched: Set<string> | undefined;
  #missed = 0;
  #vouchedAt: number | undefined;

  constructor(context: AuditContext<T>) {
    this.#context = context;
  }

  /** Changes that no watch brought. */
  get missed(): number {
    return this.#missed;
  }

  /** Epoch ms of the last list that the cache was compared with. */
  get vouchedAt(): number | undefined {
    return this.#vouchedAt;
  }

  /** An event named this key. */
  touch(key: string): void {
    this.#touched?.add(key);
  }

  /** Adds changes that a trusted watch did not bring. */
  count(missed: number): void {
    this.#missed += missed;
  }

  /** The cache equals a complete list, or was just compared with one. */
  vouch(): void {
    this.#vouchedAt = this.#context.clock.now();
    this.#context.outage.end('audit');
    this.#plan(10, 30);
  }

  /** Audits one connection until it ends, and ends it when it missed a change. */
  async run(connection: AbortController, ended: AbortSignal): Promise<void> {
    const { clock, outage } = this.#context;
    while (!ended.aborted) {
      try {
        await clock.after(this.#dueAt - clock.monotonic(), ended);
        const lost = await this.#compare(ended);
        this.vouch();
        if (lost === 0) continue;
        this.count(lost);
        connection.abort(new ClusterError('Gone', `a watch missed ${lost} changes; listing again`));
      } catch (error) {
        if (ended.aborted) return;
        this.#plan(1, 3);
        outage.begin('audit', troubleOf(error));
      }
    }
  }

  /** @returns how many changes the list has that the cache has not, though the watch had time to bring them */
  async #compare(ended: AbortSignal): Promise<number> {
    const { cache, clock, list } = this.#context;
    const touched = new Set<string>();
    this.#touched = touched;
    try {
      const { objects } = await list(ended);
      await clock.after(graceMs, ended);
      return cache.differences(objects).filter((key) => !touched.has(key)).length;
    } finally {
      this.#touched = undefined;
    }
  }

  #plan(fromMinutes: number, toMinutes: number): void {
    const { clock, random } = this.#context;
    const minutes = fromMinutes + (toMinutes - fromMinutes) * random.fraction();
    this.#dueAt = clock.monotonic() + minutes * minuteMs;
  }
}
