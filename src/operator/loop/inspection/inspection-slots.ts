// Limits concurrent archive inspections, because each needs a thread, a heap and a decoder, and a pod's memory is
// bounded. Namespaces take turns, so that slow archives of one namespace do not delay all others. A stopped
// inspection leaves the queue at once. A slot can be kept for a resource that waits for a new link. Invariants: no
// more slots are taken than exist, and none is lost. A namespace that holds a slot, kept slots included, takes
// another only while one more stays free. An inspection that may take a slot does not wait.

import { FairQueue } from '#platform/runtime/fair-queue.ts';

export interface Slot {
  /** Frees the slot for the next in the queue. Works once; further calls change nothing. */
  release(): void;
}

export class InspectionSlots {
  readonly #count: number;
  /** By namespace. */
  readonly #queue = new FairQueue<Slot>();
  readonly #kept = new Map<string, Slot>();
  /** How many slots each namespace holds, 1 or more. */
  readonly #held = new Map<string, number>();
  #taken = 0;

  /** @param count 1 or more */
  constructor(count: number) {
    this.#count = count;
  }

  /** Includes kept slots. */
  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** True if `take` would return a slot at once. */
  hasRoom(id: string): boolean {
    return this.#kept.has(id) || this.#mayTake(namespaceOf(id));
  }

  /**
   * Returns the slot kept for the resource, or a free slot, or the first slot that becomes free for its namespace.
   *
   * @param id namespace/name of the resource
   * @throws the signal's reason when aborted before it had a slot
   */
  async take(id: string, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const kept = this.#kept.get(id);
    if (kept !== undefined) {
      this.#kept.delete(id);
      return kept;
    }
    const namespace = namespaceOf(id);
    if (this.#mayTake(namespace)) return this.#grant(namespace);
    return await this.#queue.wait(namespace, signal);
  }

  /** Keeps a taken slot for the resource's next `take`, until `end` or `giveUp`. */
  keep(id: string, slot: Slot, end: AbortSignal): void {
    this.giveUp(id);
    if (end.aborted) {
      slot.release();
      return;
    }
    this.#kept.set(id, slot);
    const expire = (): void => {
      if (this.#kept.get(id) === slot) this.giveUp(id);
    };
    end.addEventListener('abort', expire, { once: true });
  }

  /** Frees the slot that is kept for the resource, if there is one. */
  giveUp(id: string): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    kept?.release();
  }

  /** The last free slot is reserved for a namespace that holds none. */
  #mayTake(namespace: string): boolean {
    const free = this.#count - this.#taken;
    return free > (this.#held.has(namespace) ? 1 : 0);
  }

  #grant(namespace: string): Slot {
    this.#taken += 1;
    this.#held.set(namespace, (this.#held.get(namespace) ?? 0) + 1);
    let isLeft = false;
    return {
      release: () => {
        if (isLeft) return;
        isLeft = true;
        this.#release(namespace);
        this.#serveQueue();
      },
    };
  }

  #release(namespace: string): void {
    this.#taken -= 1;
    const left = (this.#held.get(namespace) ?? 0) - 1;
    if (left > 0) this.#held.set(namespace, left);
    else this.#held.delete(namespace);
  }

  /**
   * Serves every inspection that may take a slot now. One freed slot may serve two, because the namespace that
   * freed its only slot may take one again.
   */
  #serveQueue(): void {
    const take = (namespace: string): Slot | undefined =>
      this.#mayTake(namespace) ? this.#grant(namespace) : undefined;
    while (this.#queue.grantNext(take));
  }
}

function namespaceOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}
