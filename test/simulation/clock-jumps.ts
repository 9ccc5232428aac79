// When the operator's clock was set, and by how much; oracles excuse failures by it. Counts on the monotonic clock.

import type { VirtualClock } from '../support/virtual-clock.ts';

export class ClockJumps {
  readonly #clock: VirtualClock;
  readonly #jumps: { readonly at: number; readonly ms: number }[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  jump(ms: number): void {
    this.#clock.jump(ms);
    this.#jumps.push({ at: this.#clock.monotonic(), ms });
  }

  /** How far the clock was set back, in all, since an instant. */
  setBackMs(since: number): number {
    const back = this.#jumps.filter(({ at, ms }) => at >= since && ms < 0);
    return back.reduce((sum, { ms }) => sum - ms, 0);
  }

  wasSetSince(since: number): boolean {
    return this.#jumps.some(({ at }) => at >= since);
  }
}
