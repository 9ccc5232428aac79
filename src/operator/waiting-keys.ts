// Which of the waiting keys is next. Three urgencies, so that an edit does not wait behind the thousands of a
// restart's first list, and places kept for edits, so that it does not wait for one of these to end either; and lanes
// of bounded width, so that one export API that hangs cannot hold every worker.
// Invariants: a key waits once; a lane never has more keys under way than its places; nothing waits for ever.

/** Most urgent first: somebody's change, a timer that fell due, what a first list found. */
export const urgencies = ['edited', 'due', 'listed'] as const;
export type Urgency = (typeof urgencies)[number];

export interface LaneOptions {
  /** Keys of one lane share what may hang: the host of their export API. */
  readonly laneOf: (key: string) => string;
  /** Keys of one lane that may be under way at once. */
  readonly width: number;
  /** Keys of all lanes that may be under way at once. */
  readonly total: number;
  /** Further places, of each lane and of all, that only edits may take. */
  readonly editPlaces: number;
}

export interface Taken {
  readonly key: string;
  readonly lane: string;
  /** As given to `put`. */
  readonly since: number;
}

interface Entry {
  readonly urgency: Urgency;
  readonly since: number;
  readonly order: number;
}

interface Lane {
  /** By urgency; insertion order is the order of service. */
  readonly waiting: Readonly<Record<Urgency, Map<string, Entry>>>;
  underWay: number;
}

interface Candidate {
  readonly key: string;
  readonly lane: string;
  readonly entry: Entry;
}

/** After this many urgent ones in a row the oldest of all has its turn. */
const fairAfter = 8;

export class WaitingKeys {
  readonly #options: LaneOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #laneOfWaiting = new Map<string, string>();
  #order = 0;
  #passedOver = 0;
  #underWay = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#laneOfWaiting.size;
  }

  has(key: string): boolean {
    return this.#laneOfWaiting.has(key);
  }

  /**
   * Adds the key, or makes a waiting one more urgent (never less). True if it did not wait yet.
   *
   * @param since given back by `take`; the first one counts
   */
  put(key: string, urgency: Urgency, since: number): boolean {
    const known = this.#laneOfWaiting.get(key);
    if (known !== undefined) {
      this.#hasten(key, known, urgency);
      return false;
    }
    const name = this.#options.laneOf(key);
    this.#order += 1;
    this.#lane(name).waiting[urgency].set(key, { urgency, since, order: this.#order });
    this.#laneOfWaiting.set(key, name);
    return true;
  }

  /** The next key, now under way in its lane until `finish`; `undefined` when none may go. */
  take(): Taken | undefined {
    const heads = this.#heads();
    const oldest = heads.reduce<Candidate | undefined>(older, undefined);
    if (oldest === undefined) return undefined;
    const mostUrgent = urgencies
      .map((urgency) => heads.filter(({ entry }) => entry.urgency === urgency).reduce(older, undefined))
      .find((candidate) => candidate !== undefined);
    const chosen = this.#passedOver >= fairAfter ? oldest : (mostUrgent ?? oldest);
    this.#passedOver = chosen === oldest ? 0 : this.#passedOver + 1;
    const lane = this.#lane(chosen.lane);
    lane.waiting[chosen.entry.urgency].delete(chosen.key);
    lane.underWay += 1;
    this.#underWay += 1;
    this.#laneOfWaiting.delete(chosen.key);
    return { key: chosen.key, lane: chosen.lane, since: chosen.entry.since };
  }

  /** Gives back the place that a taken key had in its lane. */
  finish({ lane: name }: Pick<Taken, 'lane'>): void {
    const lane = this.#lane(name);
    lane.underWay -= 1;
    this.#underWay -= 1;
    const isIdle = urgencies.every((urgency) => lane.waiting[urgency].size === 0);
    if (lane.underWay === 0 && isIdle) this.#lanes.delete(name);
  }

  clear(): void {
    for (const lane of this.#lanes.values()) for (const urgency of urgencies) lane.waiting[urgency].clear();
    this.#laneOfWaiting.clear();
  }

  #hasten(key: string, laneName: string, urgency: Urgency): void {
    const { waiting } = this.#lane(laneName);
    for (const slower of urgencies.slice(urgencies.indexOf(urgency) + 1)) {
      const entry = waiting[slower].get(key);
      if (entry === undefined) continue;
      waiting[slower].delete(key);
      waiting[urgency].set(key, { ...entry, urgency });
    }
  }

  /** The first of each urgency in each lane that has room for it. */
  #heads(): readonly Candidate[] {
    const { width, total, editPlaces } = this.#options;
    const heads: Candidate[] = [];
    for (const [lane, { waiting, underWay }] of this.#lanes) {
      for (const urgency of urgencies) {
        const more = urgency === 'edited' ? editPlaces : 0;
        if (underWay >= width + more || this.#underWay >= total + more) continue;
        const [first] = waiting[urgency];
        if (first !== undefined) heads.push({ key: first[0], lane, entry: first[1] });
      }
    }
    return heads;
  }

  #lane(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = { waiting: { edited: new Map(), due: new Map(), listed: new Map() }, underWay: 0 };
    this.#lanes.set(name, lane);
    return lane;
  }
}

function older(one: Candidate | undefined, other: Candidate): Candidate {
  return one === undefined || other.entry.order < one.entry.order ? other : one;
}
