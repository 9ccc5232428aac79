// How many turns the time to come holds, judged by what was read: their rate, and how far it may be wrong. Pure. Owns what
// makes a rate doubtful: few turns, unequal days, a trend, and a week that is not complete.

/** One window, or neighbours that were joined. */
export interface ReadPart {
  readonly ms: number;
  readonly rows: number;
  readonly requests: number;
}

export interface TurnRate {
  readonly perMs: number;
  /** As much more or less is possible, in turns per ms. */
  readonly doubt: number;
}

export interface Pace {
  readonly pageRows: number;
  /** Requests sent for one that pages of this size need: more than 1 after repeats and short pages. */
  readonly factor: number;
  readonly factorDoubt: number;
}

type Block = Pick<ReadPart, 'ms' | 'rows'>;

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** Before a quarter was read, the rest is three times longer than what is known. */
const leastShare = 1 / 4;
/** Before a week was read: days of a week differ from their mean by about this share. */
const unseenWeek = 0.35;
/** Windows up to this length are cut into days; a longer one says too little about its days. */
const longestCut = 3 * dayMs;

/** A window costs its pages, the last of which is half full on average. */
export const costOf = (rows: number, pageRows: number): number => Math.max(1, rows / pageRows + 0.5);

export function paceOf(parts: readonly ReadPart[], limit: number): Pace {
  const paged = parts.filter(({ requests }) => requests > 1);
  const pages = sumOf(paged, ({ requests }) => requests - 0.5);
  const pageRows = pages === 0 ? limit : Math.min(limit, sumOf(paged, ({ rows }) => rows) / pages);
  const counted = Math.max(1, pageRows);
  const needed = sumOf(parts, ({ rows }) => costOf(rows, counted));
  const requests = sumOf(parts, (part) => part.requests);
  const factor = requests / needed;
  // Repeats and short pages come at random; their sum is off by the root of the squares. Twice it, and the time to come.
  const squares = sumOf(parts, (part) => (part.requests - factor * costOf(part.rows, counted)) ** 2);
  const factorDoubt = (2.5 * Math.sqrt(squares)) / needed;
  return { pageRows: counted, factor, factorDoubt };
}

/** @returns `undefined`: too little was read. @param leftMs the time to come */
export function turnRateOf(parts: readonly ReadPart[], leftMs: number): TurnRate | undefined {
  const readMs = sumOf(parts, ({ ms }) => ms);
  const rows = sumOf(parts, (part) => part.rows);
  const blocks = daysOf(parts, readMs) ?? parts;
  if (rows === 0 || blocks.length < 2 || readMs < leastShare * (readMs + leftMs)) return undefined;
  const mean = meanOf(blocks);
  const { error, freedom } = spreadOf(blocks, blocks === parts ? 0 : longestOf(parts));
  const least = mean / Math.sqrt(rows);
  // Twice the error, and more where few blocks say how large it is. The time to come varies as well.
  const noise = Math.max(error, least) * Math.sqrt(1 + readMs / leftMs) * (2 + 4 / freedom);
  const unseen = readMs < weekMs && leftMs > dayMs ? unseenWeek * mean : 0;
  // A trend goes on, or ends: half of it is wrong by half of it at most.
  const halfTrend = Math.max(-mean, (slopeOf(blocks) * (readMs + leftMs)) / 2) / 2;
  return { perMs: mean + halfTrend, doubt: noise + unseen + Math.abs(halfTrend) };
}

/** The latest whole days, of whole weeks as soon as there is one. `undefined`: windows are too long, or days too few. */
function daysOf(parts: readonly ReadPart[], readMs: number): readonly Block[] | undefined {
  const whole = Math.floor(readMs / dayMs);
  if (whole < 2 || longestOf(parts) > longestCut) return undefined;
  const count = whole < 7 ? whole : whole - (whole % 7);
  const rows = new Float64Array(count);
  let from = count * dayMs - readMs;
  for (const part of parts) {
    const until = from + part.ms;
    for (let day = Math.max(0, Math.floor(from / dayMs)); day < count && day * dayMs < until; day += 1) {
      const sharedMs = Math.min(until, (day + 1) * dayMs) - Math.max(from, day * dayMs);
      rows[day] = (rows[day] ?? 0) + (part.rows * sharedMs) / part.ms;
    }
    from = until;
  }
  return Array.from(rows, (count) => ({ ms: dayMs, rows: count }));
}

/** Error of the mean, and how many independent differences it was computed from. @param windowMs the longest that was cut into blocks */
function spreadOf(
  blocks: readonly Block[],
  windowMs: number,
): { readonly error: number; readonly freedom: number } {
  const allMs = sumOf(blocks, ({ ms }) => ms);
  const effective = allMs ** 2 / sumOf(blocks, ({ ms }) => ms ** 2);
  const weeks = wholeWeeks(blocks);
  const mean = meanOf(blocks);
  const weekday = (at: number): number => meanOf(blocks.filter((_, other) => other % 7 === at % 7));
  const usual = weeks < 2 ? blocks.map(() => mean) : blocks.map((_, at) => weekday(at));
  const independent = weeks < 2 ? effective - 1 : 7 * (weeks - 1);
  // Days of one window are equal, whatever they were.
  const freedom = Math.max(0.5, independent / Math.max(1, windowMs / dayMs));
  const squares = blocks.reduce((sum, { ms, rows }, at) => sum + (rows - ms * (usual[at] ?? mean)) ** 2, 0);
  return { error: Math.sqrt((squares / allMs ** 2) * (effective / freedom)), freedom };
}

/** By how much the rate changes in a ms: from the first half to the last, in whole weeks where there are two. */
function slopeOf(blocks: readonly Block[]): number {
  const allMs = sumOf(blocks, ({ ms }) => ms);
  const weeks = wholeWeeks(blocks);
  const partMs = weeks < 2 ? allMs / 2 : Math.floor(weeks / 2) * weekMs;
  const change = rowsIn(blocks, allMs - partMs, allMs) - rowsIn(blocks, 0, partMs);
  return change / partMs / (allMs - partMs);
}

/** 0 where blocks are not days of whole weeks. */
const wholeWeeks = (blocks: readonly Block[]): number =>
  blocks.length % 7 === 0 && blocks.every(({ ms }) => ms === dayMs) ? blocks.length / 7 : 0;

function rowsIn(blocks: readonly Block[], from: number, until: number): number {
  let at = 0;
  return sumOf(blocks, ({ ms, rows }) => {
    const sharedMs = Math.max(0, Math.min(at + ms, until) - Math.max(at, from));
    at += ms;
    return (rows * sharedMs) / ms;
  });
}

const longestOf = (blocks: readonly Block[]): number =>
  blocks.reduce((most, { ms }) => Math.max(most, ms), 0);

const meanOf = (blocks: readonly Block[]): number =>
  sumOf(blocks, ({ rows }) => rows) / sumOf(blocks, ({ ms }) => ms);

const sumOf = <T>(list: readonly T[], of: (one: T) => number): number =>
  list.reduce((sum, one) => sum + of(one), 0);
