// Which of the waiting keys is next. Three urgencies, so that an edit does not wait behind the thousands of a
// restart's first list, and places kept for edits, so that it does not wait for one of these to end either; and lanes
// of bounded width, so that one export API that hangs cannot hold every worker.
// Invariants: a key waits once; a lane never has more keys under way than its places; edits fill their own places before
// any other; whoever has a place is passed over a bounded number of times, however many more urgent ones wait or come;
// what is next is found without walking all lanes.

import { LaneRanking } from './lane-ranking.ts';
import { Turns } from './turns.ts';

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
  /** Further places, of each lane and of all, that only edits take. */
  readonly editPlaces: number;
}

export interface Taken {
  readonly key: string;
  readonly lane: string;
  /** As given to `put`. */
  readonly since: number;
  /** Whether a place of edits came into use with it. */
  readonly isEdit: boolean;
}

interface Entry {
  readonly urgency: Urgency;
  readonly since: number;
  readonly order: number;
}

/** Of a lane, or of all together. */
interface Load {
  underWay: number;
  /** How many of these were edits when they were taken. */
  edits: number;
}

interface Lane {
  /** By urgency; insertion order is the order of service. */
  readonly waiting: Readonly<Record<Urgency, Map<string, Entry>>>;
  readonly load: Load;
  /** Of its normal places. */
  readonly turns: Turns<Urgency>;
}

interface Candidate {
  readonly key: string;
  readonly lane: string;
  readonly entry: Entry;
}

export class WaitingKeys {
  readonly #options: LaneOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with room, by the order of what waits first in them. */
  readonly #ranking: Readonly<Record<Urgency, LaneRanking>> = {
    edited: new LaneRanking(),
    due: new LaneRanking(),
    listed: new LaneRanking(),
  };
  /**
   * Lanes with room in which somebody less urgent has the next turn. A turn of all is no turn of a lane that is full just
   * then: without its own, edits in it and turns of other lanes could go on by turns for ever.
   */
  readonly #owed = new LaneRanking();
  readonly #laneOfWaiting = new Map<string, string>();
  readonly #load: Load = { underWay: 0, edits: 0 };
  readonly #turns = new Turns(urgencies);
  #order = 0;

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
   * Adds the key, or makes a waiting one more urgent (never less), in the lane that it is of by now. True if it did not
   * wait yet.
   *
   * @param since given back by `take`; the first one counts
   */
  put(key: string, urgency: Urgency, since: number): boolean {
    const name = this.#options.laneOf(key);
    const known = this.#laneOfWaiting.get(key);
    if (known !== undefined) {
      if (known !== name) this.#move(key, known, name);
      this.#hasten(key, name, urgency);
      return false;
    }
    this.#order += 1;
    const lane = this.#lane(name);
    lane.waiting[urgency].set(key, { urgency, since, order: this.#order });
    this.#laneOfWaiting.set(key, name);
    this.#rank(name, lane);
    return true;
  }

  /** The next key, now under way in its lane until `finish`; `undefined` when none may go. */
  take(): Taken | undefined {
    const chosen = this.#choose();
    if (chosen === undefined) return undefined;
    const { key, lane: name, entry } = chosen;
    const lane = this.#lane(name);
    if (this.#hasPlace(lane)) lane.turns.note(entry.urgency, (urgency) => lane.waiting[urgency].size > 0);
    const isEdit = entry.urgency === 'edited';
    lane.waiting[entry.urgency].delete(key);
    this.#laneOfWaiting.delete(key);
    count([lane.load, this.#load], isEdit, 1);
    this.#rank(name, lane);
    return { key, lane: name, since: entry.since, isEdit };
  }

  /** Gives back the place that a taken key had in its lane. */
  finish({ lane: name, isEdit }: Pick<Taken, 'lane' | 'isEdit'>): void {
    const lane = this.#lane(name);
    count([lane.load, this.#load], isEdit, -1);
    this.#rank(name, lane);
    this.#dropIfIdle(name, lane);
  }

  clear(): void {
    for (const [name, { waiting, load }] of this.#lanes) {
      for (const urgency of urgencies) waiting[urgency].clear();
      if (load.underWay === 0) this.#lanes.delete(name);
    }
    for (const urgency of urgencies) this.#ranking[urgency].clear();
    this.#owed.clear();
    this.#laneOfWaiting.clear();
  }

  #dropIfIdle(name: string, { load, waiting }: Lane): void {
    const isEmpty = urgencies.every((urgency) => waiting[urgency].size === 0);
    if (load.underWay === 0 && isEmpty) this.#lanes.delete(name);
  }

  /** An edit that leads away from an API that hangs waits for nobody there. */
  #move(key: string, fromName: string, toName: string): void {
    const [from, to] = [this.#lane(fromName), this.#lane(toName)];
    for (const urgency of urgencies) {
      const entry = from.waiting[urgency].get(key);
      if (entry === undefined) continue;
      from.waiting[urgency].delete(key);
      to.waiting[urgency].set(key, entry);
    }
    this.#laneOfWaiting.set(key, toName);
    this.#rank(fromName, from);
    this.#rank(toName, to);
    this.#dropIfIdle(fromName, from);
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

  #choose(): Candidate | undefined {
    const { total, editPlaces } = this.#options;
    if (this.#inNormalPlaces(this.#load) >= total) {
      return this.#load.underWay < total + editPlaces ? this.#first('edited') : undefined;
    }
    const waits = (urgency: Urgency): boolean => this.#first(urgency) !== undefined;
    const turn = this.#turns.next(waits);
    const isMostUrgent = turn === urgencies.find(waits);
    const chosen = (isMostUrgent ? this.#firstOwed() : undefined) ?? (turn && this.#first(turn));
    // Not counted above: an edit in a place of its own takes nobody's turn. Nor does what a lane owed give the others of
    // its urgency theirs.
    if (turn !== undefined) this.#turns.note(turn, waits);
    return chosen;
  }

  #firstOwed(): Candidate | undefined {
    const { first } = this.#owed;
    return first && owedIn(first.lane, this.#lane(first.lane));
  }

  /** What comes first of this urgency, in the lanes that have room for it. */
  #first(urgency: Urgency): Candidate | undefined {
    const { first } = this.#ranking[urgency];
    return first && headOf(first.lane, this.#lane(first.lane), urgency);
  }

  /** Edits that are under way are in their own places, as far as these reach. */
  #inNormalPlaces({ underWay, edits }: Load): number {
    return underWay - Math.min(edits, this.#options.editPlaces);
  }

  /** In the lane, for whatever waits in it. */
  #hasPlace({ load }: Lane): boolean {
    return this.#inNormalPlaces(load) < this.#options.width;
  }

  /** After whatever changed in the lane: what waits first, or who is under way. */
  #rank(name: string, lane: Lane): void {
    const { width, editPlaces } = this.#options;
    const hasPlace = this.#hasPlace(lane);
    for (const urgency of urgencies) {
      const hasRoom = hasPlace || (urgency === 'edited' && lane.load.underWay < width + editPlaces);
      this.#ranking[urgency].set(name, hasRoom ? headOf(name, lane, urgency)?.entry.order : undefined);
    }
    this.#owed.set(name, hasPlace ? owedIn(name, lane)?.entry.order : undefined);
  }

  #lane(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const waiting = { edited: new Map(), due: new Map(), listed: new Map() };
    const lane: Lane = { waiting, load: { underWay: 0, edits: 0 }, turns: new Turns(urgencies) };
    this.#lanes.set(name, lane);
    return lane;
  }
}

function headOf(name: string, { waiting }: Lane, urgency: Urgency): Candidate | undefined {
  const [head] = waiting[urgency];
  return head && { key: head[0], lane: name, entry: head[1] };
}

/** Who has the next turn in the lane, where somebody more urgent waits in it. */
function owedIn(name: string, lane: Lane): Candidate | undefined {
  const waits = (urgency: Urgency): boolean => lane.waiting[urgency].size > 0;
  const turn = lane.turns.next(waits);
  return turn === undefined || turn === urgencies.find(waits) ? undefined : headOf(name, lane, turn);
}

function count(loads: readonly Load[], isEdit: boolean, by: 1 | -1): void {
  for (const load of loads) {
    load.underWay += by;
    if (isEdit) load.edits += by;
  }
}
