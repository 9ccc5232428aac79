// Limits how many archives are read at the same time: each reading is a thread with a heap and a decoder of its own, and
// the memory of a pod is bounded. Namespaces take turns, so that the slow archives of one do not delay all others. A
// reading that is stopped leaves the line at once. A slot can be kept for a resource that waits for a fresh link.
// Invariants: never more slots are taken than exist; none is lost; a namespace that holds a slot, a kept one included,
// takes another only while one more stays free; a reading that may take a slot does not wait.

export interface Place {
  /** The next in line has it. Once; further calls change nothing. */
  leave(): void;
}

export class InspectionPlaces {
  readonly #count: number;
  /** Waiting readings by namespace; the namespace whose turn is next comes first. */
  readonly #line = new Map<string, Set<() => void>>();
  readonly #kept = new Map<string, Place>();
  /** How many slots each namespace holds, 1 or more. */
  readonly #held = new Map<string, number>();
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
    let count = 0;
    for (const waiting of this.#line.values()) count += waiting.size;
    return count;
  }

  /** Whether `take` would give one at once. */
  hasRoom(id: string): boolean {
    return this.#kept.has(id) || this.#mayTake(namespaceOf(id));
  }

  /**
   * The place that is kept for the resource, or a free one, or the first that others leave for its namespace.
   *
   * @param id namespace/name of the resource
   * @throws the signal's reason when aborted before it had one
   */
  async take(id: string, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    const kept = this.#kept.get(id);
    if (kept !== undefined) {
      this.#kept.delete(id);
      return kept;
    }
    const namespace = namespaceOf(id);
    if (this.#mayTake(namespace)) return this.#place(namespace);
    return new Promise((resolve, reject) => {
      const serve = (): void => {
        signal.removeEventListener('abort', stop);
        resolve(this.#place(namespace));
      };
      const stop = (): void => {
        this.#drop(namespace, serve);
        reject(signal.reason);
      };
      const waiting = this.#line.get(namespace) ?? new Set();
      this.#line.set(namespace, waiting.add(serve));
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

  /** The last free slot is for a namespace that holds none. */
  #mayTake(namespace: string): boolean {
    const free = this.#count - this.#taken;
    return free > (this.#held.has(namespace) ? 1 : 0);
  }

  #place(namespace: string): Place {
    this.#taken += 1;
    this.#held.set(namespace, (this.#held.get(namespace) ?? 0) + 1);
    let isLeft = false;
    return {
      leave: () => {
        if (isLeft) return;
        isLeft = true;
        this.#release(namespace);
        this.#serveLine();
      },
    };
  }

  #release(namespace: string): void {
    this.#taken -= 1;
    const left = (this.#held.get(namespace) ?? 0) - 1;
    if (left > 0) this.#held.set(namespace, left);
    else this.#held.delete(namespace);
  }

  /** All who may take a slot now: one that is left may serve two, the namespace that left its only one among them. */
  #serveLine(): void {
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) next();
  }

  #takeNext(): (() => void) | undefined {
    for (const [namespace, waiting] of this.#line) {
      const [next] = waiting;
      if (next === undefined || !this.#mayTake(namespace)) continue;
      this.#drop(namespace, next);
      // The rest of its line waits until the other namespaces had their turn.
      if (this.#line.delete(namespace)) this.#line.set(namespace, waiting);
      return next;
    }
    return undefined;
  }

  #drop(namespace: string, serve: () => void): void {
    const waiting = this.#line.get(namespace);
    waiting?.delete(serve);
    if (waiting?.size === 0) this.#line.delete(namespace);
  }
}

function namespaceOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}
