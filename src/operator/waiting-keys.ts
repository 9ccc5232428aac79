// Which of the waiting keys is next. Three urgencies, so that an edit does not wait behind the thousands of a
// restart's first list, and places kept for edits, so that it does not wait for one of these to end either; and lanes
// of bounded width, so that one export API that hangs cannot hold every worker.
// Invariants: a key waits once; a lane never has more keys under way than its places; nothing waits for ever; what
// is next is found without walking all lanes.

import { LaneRanking } from './lane-ranking.ts';

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
  /** Lanes with room, by the order of what waits first in them. */
  readonly #ranking: Readonly<Record<Urgency, LaneRanking>> = {
    edited: new LaneRanking(),
    due: new LaneRanking(),
    listed: new LaneRanking(),
  };
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
    const lane = this.#lane(name);
    lane.waiting[urgency].set(key, { urgency, since, order: this.#order });
    this.#laneOfWaiting.set(key, name);
    this.#rank(name, lane);
    return true;
  }

  /** The next key, now under way in its lane until `finish`; `undefined` when none may go. */
  take(): Taken | undefined {
    const heads = urgencies.map((urgency) => this.#first(urgency)).filter((head) => head !== undefined);
    const [mostUrgent] = heads;
    if (mostUrgent === undefined) return undefined;
    const oldest = heads.reduce((one, other) => (other.entry.order < one.entry.order ? other : one));
    const chosen = this.#passedOver >= fairAfter ? oldest : mostUrgent;
    this.#passedOver = chosen === oldest ? 0 : this.#passedOver + 1;
    const lane = this.#lane(chosen.lane);
    lane.waiting[chosen.entry.urgency].delete(chosen.key);
    lane.underWay += 1;
    this.#underWay += 1;
    this.#laneOfWaiting.delete(chosen.key);
    this.#rank(chosen.lane, lane);
    return { key: chosen.key, lane: chosen.lane, since: chosen.entry.since };
  }

  /** Gives back the place that a taken key had in its lane. */
  finish({ lane: name }: Pick<Taken, 'lane'>): void {
    const lane = this.#lane(name);
    lane.underWay -= 1;
    this.#underWay -= 1;
    const wasFull = lane.underWay + 1 >= this.#options.width;
    if (wasFull) this.#rank(name, lane);
    const isIdle = urgencies.every((urgency) => lane.waiting[urgency].size === 0);
    if (lane.underWay === 0 && isIdle) this.#lanes.delete(name);
  }

  clear(): void {
    for (const [name, { waiting, underWay }] of this.#lanes) {
      for (const urgency of urgencies) waiting[urgency].clear();
      if (underWay === 0) this.#lanes.delete(name);
    }
    for (const urgency of urgencies) this.#ranking[urgency].clear();
    this.#laneOfWaiting.clear();
  }

  #hasten(key: string, laneName: string, urgency: Urgency): void {
    const lane = this.#lane(laneName);
    const { waiting } = lane;
    for (const slower of urgencies.slice(urgencies.indexOf(urgency) + 1)) {
      const entry = waiting[slower].get(key);
      if (entry === undefined) continue;
      waiting[slower].delete(key);
      waiting[urgency].set(key, { ...entry, urgency });
      this.#rank(laneName, lane);
    }
  }

  /** What comes first of this urgency, in the lanes that have room for it. */
  #first(urgency: Urgency): Candidate | undefined {
    const { total, editPlaces } = this.#options;
    if (this.#underWay >= total + (urgency === 'edited' ? editPlaces : 0)) return undefined;
    const { first } = this.#ranking[urgency];
    const [head] = first === undefined ? [] : this.#lane(first.lane).waiting[urgency];
    return first && head && { key: head[0], lane: first.lane, entry: head[1] };
  }

  /** After whatever changed in the lane: what waits first, or who is under way. */
  #rank(name: string, { waiting, underWay }: Lane): void {
    const { width, editPlaces } = this.#options;
    for (const urgency of urgencies) {
      const hasRoom = underWay < width + (urgency === 'edited' ? editPlaces : 0);
      const [head] = hasRoom && waiting[urgency].size > 0 ? waiting[urgency] : [];
      this.#ranking[urgency].set(name, head?.[1].order);
    }
  }

  #lane(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = { waiting: { edited: new Map(), due: new Map(), listed: new Map() }, underWay: 0 };
    this.#lanes.set(name, lane);
    return lane;
  }
}
