// Slots of tasks: a few of one owner run at once, and the others wait in order. Refuses none. Invariant: a task that waits
// has made nothing yet, so that waiting costs no memory, no request and no credential.

import { FairQueue } from '#platform/runtime/fair-queue.ts';

export class GitSlots {
  readonly #atOnce: number;
  readonly #waiting = new FairQueue<true>();
  /** By owner, while a task of it runs. */
  readonly #running = new Map<string, number>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** @throws what `work` throws; it also runs after the end of the process, and has to throw then */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(owner) ?? 0;
    if (running < this.#atOnce) this.#running.set(owner, running + 1);
    else await this.#waiting.wait(owner);
    try {
      return await work();
    } finally {
      // The next task takes over the turn.
      if (!this.#waiting.grantNext((waiting) => (waiting === owner ? true : undefined))) {
        const left = (this.#running.get(owner) ?? 0) - 1;
        if (left > 0) this.#running.set(owner, left);
        else this.#running.delete(owner);
      }
    }
  }
}
