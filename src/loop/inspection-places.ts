// How many archives are read at the same time: each reading is a thread with a heap and a decoder of its own, and
// what a pod may use is bounded. First come, first served; who is stopped leaves the line at once. A place that came
// when the link had died is kept for its resource, for as long as a fresh one may take.
// Invariants: never more places are taken than there are; none is lost; nobody waits while one is free.

export interface Place {
  /** The next in line has it. Once; further calls change nothing. */
  leave(): void;
}

export class InspectionPlaces {
  readonly #count: number;
  /** Insertion order is the order of service. */
  readonly #line = new Set<() => void>();
  readonly #kept = new Map<string, Place>();
  #taken = 0;

  /** @param count 1 or more */
  constructor(count: number) {
    this.#count = count;
  }

  /** Kept ones included. */
  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#line.size;
  }

  /** Whether `take` would give one at once. */
  hasRoom(id: string): boolean {
    return this.#kept.has(id) || this.#taken < this.#count;
  }

  /**
   * The place that is kept for the resource, or a free one, or the first that others leave.
   *
   * @throws the signal's reason when aborted before it had one
   */
  async take(id: string, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    const kept = this.#kept.get(id);
    if (kept !== undefined) {
      this.#kept.delete(id);
      return kept;
    }
    if (this.#taken < this.#count) {
      this.#taken += 1;
      return this.#place();
    }
    return new Promise((resolve, reject) => {
      const serve = (): void => {
        signal.removeEventListener('abort', stop);
        resolve(this.#place());
      };
      const stop = (): void => {
        this.#line.delete(serve);
        reject(signal.reason);
      };
      this.#line.add(serve);
      signal.addEventListener('abort', stop, { once: true });
    });
  }

  /** Keeps a taken place for the resource's next `take`, until `end` or `giveUp`. */
  keep(id: string, place: Place, end: AbortSignal): void {
    this.giveUp(id);
    if (end.aborted) {
      place.leave();
      return;
    }
    this.#kept.set(id, place);
    const expire = (): void => {
      if (this.#kept.get(id) === place) this.giveUp(id);
    };
    end.addEventListener('abort', expire, { once: true });
  }

  /** Leaves the place that is kept for the resource, if one is. */
  giveUp(id: string): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    kept?.leave();
  }

  #place(): Place {
    let isLeft = false;
    return {
      leave: () => {
        if (!isLeft) this.#passOn();
        isLeft = true;
      },
    };
  }

  #passOn(): void {
    const [next] = this.#line;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#line.delete(next);
    next();
  }
}
