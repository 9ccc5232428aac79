// Counts of turns, and the few sums that gaps are judged by. Owns ISO weeks. Invariant: a turn whose status is neither
// answered nor unanswered counts as a turn, and in no rate.

/** Of turns whose status is known. */
export interface Outcomes {
  readonly turns: number;
  readonly unanswered: number;
}

export const noOutcomes: Outcomes = { turns: 0, unanswered: 0 };

export const addOutcomes = (one: Outcomes, other: Outcomes): Outcomes => ({
  turns: one.turns + other.turns,
  unanswered: one.unanswered + other.unanswered,
});

export const withoutOutcomes = (all: Outcomes, part: Outcomes): Outcomes => ({
  turns: Math.max(0, all.turns - part.turns),
  unanswered: Math.max(0, all.unanswered - part.unanswered),
});

/** Share of the unanswered turns; 0 without turns. */
export const rateOf = ({ turns, unanswered }: Outcomes): number => (turns === 0 ? 0 : unanswered / turns);

/** What is counted of all turns, of a page, of a week. */
export interface Tally {
  turns: number;
  /** Turns whose status is `answered` or `unanswered`. */
  judged: number;
  unanswered: number;
  /** Turns without a source. */
  unsourced: number;
}

export const newTally = (): Tally => ({ turns: 0, judged: 0, unanswered: 0, unsourced: 0 });

/** One turn, as it is counted. */
export interface CountedTurn {
  /** `undefined`: the status is unknown. */
  readonly isUnanswered: boolean | undefined;
  readonly hasSources: boolean;
}

export function countTurn(tally: Tally, { isUnanswered, hasSources }: CountedTurn): void {
  tally.turns += 1;
  if (isUnanswered !== undefined) tally.judged += 1;
  if (isUnanswered === true) tally.unanswered += 1;
  if (!hasSources) tally.unsourced += 1;
}

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** 1970-01-05 was a Monday. */
const firstMonday = 4 * dayMs;

/** Number of the ISO week, from 0 for the one that began on 1970-01-05. */
export const weekNumber = (atMs: number): number => Math.floor((atMs - firstMonday) / weekMs);

/** `2026-W48`: a week belongs to the year that has its Thursday. */
export function weekName(week: number): string {
  const thursday = new Date(firstMonday + week * weekMs + 3 * dayMs);
  const year = thursday.getUTCFullYear();
  const start = Date.UTC(year, 0, 1);
  const number = Math.floor((thursday.getTime() - start) / weekMs) + 1;
  return `${year}-W${String(number).padStart(2, '0')}`;
}

/** Counts by week, the latest ones only. */
export class WeekTallies {
  readonly #weeks = new Map<number, Tally>();
  readonly #most: number;

  /** @param most weeks that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  count(week: number, turn: CountedTurn): void {
    let tally = this.#weeks.get(week);
    if (tally === undefined) {
      if (this.#weeks.size >= this.#most) {
        const oldest = Math.min(...this.#weeks.keys());
        if (week < oldest) return;
        this.#weeks.delete(oldest);
      }
      tally = newTally();
      this.#weeks.set(week, tally);
    }
    countTurn(tally, turn);
  }

  /** The oldest first. */
  list(): readonly (Tally & { readonly week: string })[] {
    return [...this.#weeks]
      .sort(([one], [other]) => one - other)
      .map(([week, tally]) => ({ week: weekName(week), ...tally }));
  }
}
