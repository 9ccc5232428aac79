// Hooks of a simulation: those that were sent, and those whose time is still to come. Counts on the monotonic clock.

export interface SentHook {
  readonly token: string;
  readonly at: number;
}

export class SentHooks {
  readonly all: SentHook[] = [];
  #times: number[] = [];

  /** `count` hooks, the first one at once, then one every `gapMs`. */
  plan(now: number, count: number, gapMs: number): void {
    this.#times.push(...Array.from({ length: count }, (_, index) => now + index * gapMs));
    this.#times.sort((a, b) => a - b);
  }

  /** When the next hook comes. */
  nextTime(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY;
  }

  /** The tokens of the hooks whose time has come. */
  take(now: number): readonly string[] {
    const due = this.#times.filter((at) => at <= now);
    this.#times = this.#times.slice(due.length);
    return due.map(() => {
      const token = `hook-${this.all.length}`;
      this.all.push({ token, at: now });
      return token;
    });
  }
}
