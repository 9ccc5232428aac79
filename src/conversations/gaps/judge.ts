// The state of a gap: open, closed in a version, reopened, or too few turns to say. Pure. A gap is closed by a version in
// which one of its pages changed, if fewer questions stay unanswered after it. Refuses to close a gap for any other reason.

import { addOutcomes, noOutcomes, type Outcomes, rateOf, withoutOutcomes } from './counts.ts';

export const gapRules = {
  /** Fewer turns say nothing. */
  minTurns: 5,
  minUnanswered: 3,
  /** Unanswered share from which a page or a question is a gap. */
  minRate: 0.2,
  /** Turns after a change, before it is judged. */
  laterTurns: 10,
  /** Largest share of the former rate that closes a gap. */
  closingShare: 0.5,
} as const;

export type GapState = 'Open' | 'Closed' | 'Reopened' | 'TooFewTurns';

/** What a report hands to the next one. Versions are named, because their places change. */
export interface GapMemory {
  readonly closed?: ClosedIn | undefined;
  readonly reopened?: { readonly version: string | null } | undefined;
  /** By version; null: before the first one. */
  readonly counts: readonly VersionCount[];
}

export interface VersionCount extends Outcomes {
  readonly version: string | null;
}

export interface ClosedIn {
  readonly version: string;
  readonly before: Outcomes;
  /** Turns from that version on, when it was closed. */
  readonly after: Outcomes;
}

export interface GapJudgement extends GapMemory {
  readonly state: GapState;
  /** What the state is judged by: since the gap was closed last, or all. */
  readonly outcomes: Outcomes;
  /** A page changed, and too few turns came since. */
  readonly waiting?: { readonly version: string; readonly turns: number } | undefined;
}

export interface GapEvidence {
  /** The oldest first. */
  readonly versions: readonly string[];
  /** Indexes of versions in which a page of the gap changed. */
  readonly changes: readonly number[];
  /** Turns before the first version, then of each version. */
  readonly counts: readonly Outcomes[];
  readonly previous: GapMemory | undefined;
}

/** @returns `undefined`: not a gap */
export function judgeGap({
  versions,
  changes,
  counts: stored,
  previous,
}: GapEvidence): GapJudgement | undefined {
  const counts = mergeCounts(versions, stored, previous);
  /** From the version on; -1: all. Up to, not including, another one. */
  const sum = (from: number, end = versions.length): Outcomes =>
    counts.slice(from + 1, end + 1).reduce(addOutcomes, noOutcomes);
  const memory = { counts: named(versions, counts) };
  const known = previous?.closed;
  const closedAt = known === undefined ? -1 : versions.indexOf(known.version);
  /** A closing version that is no longer listed was before all that are. */
  const start = known !== undefined && closedAt < 0 ? 0 : closedAt;
  const skip = closedAt < 0 ? noOutcomes : (known?.after ?? noOutcomes);

  if (known !== undefined && previous?.reopened === undefined) {
    const recent = withoutOutcomes(sum(start), skip);
    const isBack = recent.turns >= gapRules.laterTurns && isGap(recent) && !hasHalved(known.before, recent);
    if (!isBack) return { ...memory, state: 'Closed', closed: known, outcomes: recent };
    const reopened = { version: versions.at(-1) ?? null };
    return { ...memory, state: 'Reopened', closed: known, reopened, outcomes: recent };
  }

  // After a reopening, the turns since the gap was closed are the former ones, and only later versions can close it.
  const firstChange =
    previous?.reopened?.version == null ? 0 : versions.indexOf(previous.reopened.version) + 1;
  const later = changes.filter((at) => at >= firstChange);
  for (const [place, at] of later.entries()) {
    const before = withoutOutcomes(sum(start, at), skip);
    const after = sum(at, later[place + 1]);
    const version = versions[at];
    if (
      version === undefined ||
      !isGap(before) ||
      after.turns < gapRules.laterTurns ||
      !hasFallen(before, after)
    )
      continue;
    const whole = sum(at);
    return { ...memory, state: 'Closed', closed: { version, before, after: whole }, outcomes: whole };
  }

  const outcomes = withoutOutcomes(sum(start), skip);
  const state = previous?.reopened === undefined ? 'Open' : 'Reopened';
  const kept = { ...memory, outcomes, closed: known, reopened: previous?.reopened };
  const lastChange = later.at(-1);
  const changed = lastChange === undefined ? undefined : versions[lastChange];
  if (lastChange !== undefined && changed !== undefined) {
    const { turns } = sum(lastChange);
    const wasGap = isGap(withoutOutcomes(sum(start, lastChange), skip));
    if (wasGap && turns < gapRules.laterTurns)
      return { ...kept, state: 'TooFewTurns', waiting: { version: changed, turns } };
  }
  if (isGap(outcomes)) return { ...kept, state };
  return outcomes.turns < gapRules.minTurns && outcomes.unanswered >= 2
    ? { ...kept, state: 'TooFewTurns' }
    : undefined;
}

export function isGap(outcomes: Outcomes): boolean {
  const { minTurns, minUnanswered, minRate } = gapRules;
  return outcomes.turns >= minTurns && outcomes.unanswered >= minUnanswered && rateOf(outcomes) >= minRate;
}

const hasHalved = (before: Outcomes, after: Outcomes): boolean =>
  rateOf(after) <= rateOf(before) * gapRules.closingShare;

/** Also beyond chance: a few turns may all be answered by luck. */
const hasFallen = (before: Outcomes, after: Outcomes): boolean =>
  hasHalved(before, after) && upperBound(after) < rateOf(before);

/** Wilson's upper bound of the rate, at 95 percent. */
export function upperBound({ turns, unanswered }: Outcomes): number {
  if (turns === 0) return 1;
  const z = 1.645;
  const rate = unanswered / turns;
  const spread = z * Math.sqrt((rate * (1 - rate)) / turns + (z * z) / (4 * turns * turns));
  return (rate + (z * z) / (2 * turns) + spread) / (1 + (z * z) / turns);
}

/** A store that was pruned has fewer turns of a version than an earlier report counted. */
function mergeCounts(
  versions: readonly string[],
  stored: readonly Outcomes[],
  previous: GapMemory | undefined,
): readonly Outcomes[] {
  const former = [noOutcomes, ...versions.map(() => noOutcomes)];
  for (const { version, turns, unanswered } of previous?.counts ?? []) {
    // A version that is no longer known is before the first one.
    const at = version === null ? 0 : versions.indexOf(version) + 1;
    former[at] = addOutcomes(former[at] ?? noOutcomes, { turns, unanswered });
  }
  return former.map((one, at) => {
    const now = stored[at] ?? noOutcomes;
    return now.turns >= one.turns ? now : one;
  });
}

function named(versions: readonly string[], counts: readonly Outcomes[]): readonly VersionCount[] {
  return counts
    .map(({ turns, unanswered }, at) => ({ version: versions[at - 1] ?? null, turns, unanswered }))
    .filter(({ turns }) => turns > 0);
}
