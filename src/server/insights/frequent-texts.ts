// Counts texts in bounded memory and keeps the most frequent ones: the Space-Saving sketch (Metwally, Agrawal, El Abbadi,
// 2005), one step for each text. A new text takes the counter of the rarest one. Refuses to guess: what is listed is the part
// of a count that is certain. Invariant: of n texts counted, each that came more than n / capacity times has a counter.

export interface FrequentText {
  readonly text: string;
  /** It came at least so often. */
  readonly count: number;
  /** When it came last: epoch ms, the start of that hour. */
  readonly lastTime: number;
}

export interface FrequentTexts {
  has(text: string): boolean;
  /** @param now epoch ms */
  add(text: string, now: number): void;
  /** All that have a counter, in no order. */
  list(): readonly FrequentText[];
}

interface TextCounter {
  readonly text: string;
  /** It came at most so often. */
  estimate: number;
  /** How much of the estimate another text left. */
  readonly inherited: number;
  lastTime: number;
}

const hourMs = 3_600_000;

/** @param capacity counters, each with one text */
export function createFrequentTexts(capacity: number): FrequentTexts {
  const counters = new Map<string, TextCounter>();
  const byEstimate = new Map<number, Set<TextCounter>>();
  let least = 0;

  const place = (counter: TextCounter): void => {
    const same = byEstimate.get(counter.estimate);
    if (same === undefined) byEstimate.set(counter.estimate, new Set([counter]));
    else same.add(counter);
  };
  /** The caller places a counter one step higher, so that the least estimate moves by one step. */
  const take = (counter: TextCounter): void => {
    const { estimate } = counter;
    const same = byEstimate.get(estimate);
    same?.delete(counter);
    if (same?.size !== 0) return;
    byEstimate.delete(estimate);
    if (estimate === least) least += 1;
  };
  /** @returns what the new counter inherits */
  const makeRoom = (): number => {
    if (counters.size < capacity) {
      least = 1;
      return 0;
    }
    const inherited = least;
    const [rarest] = byEstimate.get(least) ?? [];
    if (rarest !== undefined) {
      counters.delete(rarest.text);
      take(rarest);
    }
    return inherited;
  };

  return {
    has: (text) => counters.has(text),
    add: (text, now) => {
      const lastTime = Math.floor(now / hourMs) * hourMs;
      const known = counters.get(text);
      if (known === undefined) {
        const inherited = makeRoom();
        const own = ownText(text);
        const counter = { text: own, estimate: inherited + 1, inherited, lastTime };
        counters.set(own, counter);
        place(counter);
        return;
      }
      take(known);
      known.estimate += 1;
      known.lastTime = lastTime;
      place(known);
    },
    list: () =>
      [...counters.values()].map(({ text, estimate, inherited, lastTime }) => ({
        text,
        count: estimate - inherited,
        lastTime,
      })),
  };
}

/** Without the text that it was cut from, which would stay in memory. */
function ownText(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

export interface RecentTexts extends FrequentTexts {
  /** Since when texts are counted, epoch ms. */
  readonly since: () => number;
}

/**
 * The same over the last one to two periods: what came before is forgotten, because its cause may be fixed.
 *
 * @param now epoch ms
 */
export function createRecentTexts(capacity: number, periodMs: number, now: () => number): RecentTexts {
  let recent = createFrequentTexts(capacity);
  let older = createFrequentTexts(capacity);
  let recentSince = now();
  let olderSince = recentSince;
  const rotate = (): void => {
    const at = now();
    const isLate = at - recentSince >= 2 * periodMs;
    if (at - recentSince < periodMs) return;
    older = isLate ? createFrequentTexts(capacity) : recent;
    olderSince = isLate ? at : recentSince;
    recent = createFrequentTexts(capacity);
    recentSince = at;
  };
  return {
    has: (text) => recent.has(text),
    add: (text, at) => {
      rotate();
      recent.add(text, at);
    },
    list: () => {
      rotate();
      return addCounts([...recent.list(), ...older.list()]);
    },
    since: () => {
      rotate();
      return olderSince;
    },
  };
}

/** One entry for each text. */
export function addCounts(counted: readonly FrequentText[]): readonly FrequentText[] {
  const sums = new Map<string, FrequentText>();
  for (const { text, count, lastTime } of counted) {
    const known = sums.get(text);
    sums.set(text, {
      text,
      count: count + (known?.count ?? 0),
      lastTime: Math.max(lastTime, known?.lastTime ?? 0),
    });
  }
  return [...sums.values()];
}

/** The most frequent ones, most frequent first. */
export function mostFrequent(counted: readonly FrequentText[], most: number): readonly FrequentText[] {
  return counted
    .toSorted(
      (one, other) =>
        other.count - one.count || other.lastTime - one.lastTime || (one.text < other.text ? -1 : 1),
    )
    .slice(0, most);
}
