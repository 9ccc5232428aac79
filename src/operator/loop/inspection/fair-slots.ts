// A number of slots that namespaces take in turn, so that slow work of one namespace does not delay all others. Refuses to know what
// a slot is for. Invariants: no more slots are taken than exist, and none is lost. A namespace that holds a slot takes another only
// while one more stays free. Work that may take a slot does not wait, and stopped work leaves the queue at once.

import { FairQueue } from '#platform/runtime/fair-queue.ts';

export interface Slot {
  /** Frees the slot for the next in the queue. Works once; further calls change nothing. */
  release(): void;
}

export class FairSlots {
  readonly #count: number;
  /** By namespace. */
  readonly #queue = new FairQueue<Slot>();
  /** How many slots each namespace holds, 1 or more. */
  readonly #held = new Map<string, number>();
  #taken = 0;

  /** @param count 1 or more */
  constructor(count: number) {
    this.#count = count;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** The last free slot is reserved for a namespace that holds none. */
  hasRoom(namespace: string): boolean {
    const free = this.#count - this.#taken;
    return free > (this.#held.has(namespace) ? 1 : 0);
  }

  /** @throws the signal's reason when aborted before it had a slot */
  async take(namespace: string, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    if (this.hasRoom(namespace)) return this.#grant(namespace);
    return await this.#queue.wait(namespace, signal);
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
   * Serves all work that may take a slot now. One freed slot may serve two, because the namespace that freed its only
   * slot may take one again.
   */
  #serveQueue(): void {
    const take = (namespace: string): Slot | undefined =>
      this.hasRoom(namespace) ? this.#grant(namespace) : undefined;
    while (this.#queue.grantNext(take));
  }
}
