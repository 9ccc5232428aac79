// Lanes by the rank of what waits first in each: a heap that knows where each lane is in it, so that the first is had
// at once, and a lane moves or leaves in as many steps as the heap is deep, however many tenants make lanes.
// Invariant: a lane is in it once, at the rank that was set last.

interface Ranked {
  readonly lane: string;
  readonly rank: number;
}

export class LaneRanking {
  #heap: Ranked[] = [];
  readonly #positions = new Map<string, number>();

  /** The lane with the lowest rank. */
  get first(): Ranked | undefined {
    return this.#heap[0];
  }

  /** @param rank no other lane's; `undefined` takes the lane out */
  set(lane: string, rank: number | undefined): void {
    const at = this.#positions.get(lane);
    if (at === undefined) {
      if (rank !== undefined) this.#rise({ lane, rank }, this.#heap.length);
      return;
    }
    if (this.#heap[at]?.rank === rank) return;
    if (rank === undefined) this.#remove(lane, at);
    else this.#settle({ lane, rank }, at);
  }

  clear(): void {
    this.#heap = [];
    this.#positions.clear();
  }

  #remove(lane: string, at: number): void {
    this.#positions.delete(lane);
    const last = this.#heap.pop();
    if (last !== undefined && last.lane !== lane) this.#settle(last, at);
  }

  /** Puts it at `at`, or wherever its rank belongs from there. */
  #settle(ranked: Ranked, at: number): void {
    const above = this.#heap[(at - 1) >> 1];
    if (at > 0 && above !== undefined && ranked.rank < above.rank) this.#rise(ranked, at);
    else this.#sink(ranked, at);
  }

  #rise(ranked: Ranked, from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#heap[parent];
      if (above === undefined || above.rank < ranked.rank) break;
      this.#place(above, at);
      at = parent;
    }
    this.#place(ranked, at);
  }

  #sink(ranked: Ranked, from: number): void {
    let at = from;
    for (;;) {
      const [left, right] = [this.#heap[2 * at + 1], this.#heap[2 * at + 2]];
      const isRight = left !== undefined && right !== undefined && right.rank < left.rank;
      const below = isRight ? right : left;
      if (below === undefined || ranked.rank < below.rank) break;
      this.#place(below, at);
      at = 2 * at + (isRight ? 2 : 1);
    }
    this.#place(ranked, at);
  }

  #place(ranked: Ranked, at: number): void {
    this.#heap[at] = ranked;
    this.#positions.set(ranked.lane, at);
  }
}
