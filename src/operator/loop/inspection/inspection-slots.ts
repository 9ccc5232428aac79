// Limits concurrent archive inspections, because each needs a thread, a heap and a decoder, and a pod's memory is
// bounded. Of those that make a search only one runs, because it takes as much memory as several others. It waits for
// that before it takes a slot, a download or a deadline. A slot can be kept for a resource that waits for a new link.
// Invariants: those of fair-slots.ts, kept slots included; no work that holds a slot waits for a search.

import { FairSlots, type Slot } from './fair-slots.ts';

interface KeptSlot {
  readonly slot: Slot;
  readonly makesSearch: boolean;
}

export class InspectionSlots {
  readonly #slots: FairSlots;
  readonly #searches = new FairSlots(1);
  readonly #kept = new Map<string, KeptSlot>();

  /** @param count 1 or more */
  constructor(count: number) {
    this.#slots = new FairSlots(count);
  }

  /** Includes kept slots. */
  get taken(): number {
    return this.#slots.taken;
  }

  get waiting(): number {
    return this.#slots.waiting + this.#searches.waiting;
  }

  /** True if `take` would return a slot at once. */
  hasRoom(id: string, makesSearch = false): boolean {
    const kept = this.#kept.get(id);
    if (kept?.makesSearch === makesSearch) return true;
    const namespace = namespaceOf(id);
    return this.#slots.hasRoom(namespace) && (!makesSearch || this.#searches.hasRoom(namespace));
  }

  /**
   * Returns the slot kept for the resource, or a free slot, or the first slot that becomes free for its namespace.
   *
   * @param id namespace/name of the resource
   * @param makesSearch also waits until no other search is made
   * @throws the signal's reason when aborted before it had a slot
   */
  async take(id: string, signal: AbortSignal, makesSearch = false): Promise<Slot> {
    signal.throwIfAborted();
    const kept = this.#kept.get(id);
    if (kept?.makesSearch === makesSearch) {
      this.#kept.delete(id);
      return kept.slot;
    }
    this.giveUp(id);
    const namespace = namespaceOf(id);
    if (!makesSearch) return await this.#slots.take(namespace, signal);
    const search = await this.#searches.take(namespace, signal);
    try {
      const slot = await this.#slots.take(namespace, signal);
      return {
        release: () => {
          slot.release();
          search.release();
        },
      };
    } catch (error) {
      search.release();
      throw error;
    }
  }

  /** Keeps a taken slot for the resource's next `take` of the same kind, until `end` or `giveUp`. */
  keep(id: string, slot: Slot, end: AbortSignal, makesSearch = false): void {
    this.giveUp(id);
    if (end.aborted) {
      slot.release();
      return;
    }
    this.#kept.set(id, { slot, makesSearch });
    const expire = (): void => {
      if (this.#kept.get(id)?.slot === slot) this.giveUp(id);
    };
    end.addEventListener('abort', expire, { once: true });
  }

  /** Frees the slot that is kept for the resource, if there is one. */
  giveUp(id: string): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    kept?.slot.release();
  }
}

function namespaceOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}
