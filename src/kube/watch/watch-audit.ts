// Trusts no watch for ever: lists from time to time beside one that runs, and counts what only the list found. What
// the watch was about to bring is not counted. An audit that cannot list is an outage of its own: until it can, a
// watch that loses changes is believed.

import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import type { Listed } from '../objects/resource-list.ts';
import { type Outage, troubleOf } from '../transport/outage.ts';
import type { ObjectCache, Remembered } from './object-cache.ts';

export interface AuditEdge<T extends Remembered> {
  readonly cache: ObjectCache<T>;
  readonly list: (signal: AbortSignal) => Promise<Listed<T>>;
  readonly outage: Outage;
  readonly clock: Clock;
  readonly random: Random;
}

const minuteMs = 60_000;
/** What the list saw may still be on its way through the watch. */
const graceMs = 10_000;

export class WatchAudit<T extends Remembered> {
  readonly #edge: AuditEdge<T>;
  /** Outlives connections, which last ten minutes at most. */
  #dueAt = Number.POSITIVE_INFINITY;
  /** Keys that a watch spoke of since the audit under way began. */
  #touched: Set<string> | undefined;
  #missed = 0;
  #vouchedAt: number | undefined;

  constructor(edge: AuditEdge<T>) {
    this.#edge = edge;
  }

  /** Changes that no watch brought. */
  get missed(): number {
    return this.#missed;
  }

  /** Epoch ms of the last list that the cache was compared with. */
  get vouchedAt(): number | undefined {
    return this.#vouchedAt;
  }

  /** A watch spoke of this key. */
  touch(key: string): void {
    this.#touched?.add(key);
  }

  /** A watch that was believed did not bring these. */
  count(missed: number): void {
    this.#missed += missed;
  }

  /** The cache is what a complete list says, or was just compared with one. */
  vouch(): void {
    this.#vouchedAt = this.#edge.clock.now();
    this.#edge.outage.end('audit');
    this.#plan(10, 30);
  }

  /** Audits beside one connection until that ends, and ends it when it missed something. */
  async run(connection: AbortController, ended: AbortSignal): Promise<void> {
    const { clock, outage } = this.#edge;
    while (!ended.aborted) {
      try {
        await clock.after(this.#dueAt - clock.monotonic(), ended);
        const lost = await this.#compare(ended);
        this.vouch();
        if (lost === 0) continue;
        this.count(lost);
        connection.abort(new ClusterError('Gone', `a watch missed ${lost} changes; listing anew`));
      } catch (error) {
        if (ended.aborted) return;
        this.#plan(1, 3);
        outage.begin('audit', troubleOf(error));
      }
    }
  }

  /** @returns how many changes the list has that the cache has not, though the watch had time to bring them */
  async #compare(ended: AbortSignal): Promise<number> {
    const { cache, clock, list } = this.#edge;
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
    const { clock, random } = this.#edge;
    const minutes = fromMinutes + (toMinutes - fromMinutes) * random.fraction();
    this.#dueAt = clock.monotonic() + minutes * minuteMs;
  }
}
