// Callers that wait for something of which there is too little, such as a thread. Owners take turns, so that the backlog of
// one delays another by one caller at most. Refuses to decide who may go on: its user does. Invariant: a caller whose
// signal aborts leaves the queue at once.

/** @typeParam Grant what a caller waits for */
export class FairQueue<Grant> {
  /** The owner that is next comes first. */
  readonly #waiting = new Map<string, Set<(grant: Grant) => void>>();

  get size(): number {
    return this.#waiting.values().reduce((sum, { size }) => sum + size, 0);
  }

  sizeOf(owner: string): number {
    return this.#waiting.get(owner)?.size ?? 0;
  }

  /** @throws the signal's reason */
  async wait(owner: string, signal?: AbortSignal): Promise<Grant> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Grant>();
    const waiting = this.#waiting.get(owner) ?? new Set();
    this.#waiting.set(owner, waiting.add(resolve));
    const leave = (): void => {
      if (waiting.delete(resolve) && waiting.size === 0) this.#waiting.delete(owner);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    return await promise.finally(() => signal?.removeEventListener('abort', leave));
  }

  /**
   * Lets one caller go on.
   *
   * @param take is asked for each owner in turn, until it returns a grant
   * @returns whether a caller got one
   */
  grantNext(take: (owner: string) => Grant | undefined): boolean {
    for (const [owner, waiting] of this.#waiting) {
      const [next] = waiting;
      if (next === undefined) continue;
      const grant = take(owner);
      if (grant === undefined) continue;
      waiting.delete(next);
      // The rest of this owner's callers wait until the other owners were served.
      this.#waiting.delete(owner);
      if (waiting.size > 0) this.#waiting.set(owner, waiting);
      next(grant);
      return true;
    }
    return false;
  }
}
