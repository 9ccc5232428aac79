// Turns of tasks: a few of one owner run at once, and the others wait in order. Refuses none. Invariant: a task that waits
// has made nothing yet, so that waiting costs no memory, no request and no credential.

export class Turns {
  readonly #atOnce: number;
  /** By owner, while a task of it runs. */
  readonly #owners = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** @throws what `work` throws; it also runs after the end of the process, and has to throw then */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    const turns = this.#owners.get(owner) ?? { running: 0, waiting: [] };
    this.#owners.set(owner, turns);
    if (turns.running < this.#atOnce) turns.running += 1;
    else await new Promise<void>((resolve) => turns.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The next task takes over the turn.
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else if (turns.running > 1) turns.running -= 1;
      else this.#owners.delete(owner);
    }
  }
}
