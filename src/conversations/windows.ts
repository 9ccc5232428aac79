// Which spans of time were read, which are read next, and in what steps. Pure. A window is half-open; it is settled when it
// was read again after the look-back, because a category may come days after its turn. Invariant: an instant that is not in
// a closed window, or in one that was read in part, is in the next plan, whatever interrupted the run before.

import * as z from 'zod/mini';

/** Epoch ms, `until` exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly until: number;
}

export interface ReadWindow extends TimeSpan {
  /** Start of the cycle that read it last, epoch ms; null when it is settled and never read again. */
  readonly readAt: number | null;
  /** The listing did not come to its end: some of its turns may be missing. It is read again in each cycle. */
  readonly isPartial?: true | undefined;
}

/** As states keep them. */
export const windowsSchema = z.array(
  z.object({
    from: z.number(),
    until: z.number(),
    readAt: z.nullable(z.number()),
    isPartial: z.optional(z.literal(true)),
  }),
);

/** Ordered, without overlap. */
export type ReadWindows = readonly ReadWindow[];

export interface PlannedSpan extends TimeSpan {
  readonly isNew: boolean;
}

export interface PlanLimits {
  /** Epoch ms: nothing before it. */
  readonly since: number;
  /** Epoch ms: nothing from here on. Younger turns may still be missing in the listing. */
  readonly horizon: number;
  /** Epoch ms. */
  readonly cycleStart: number;
}

/** What no run has read comes first, then what is read again. */
export function planSpans(windows: ReadWindows, { since, horizon, cycleStart }: PlanLimits): PlannedSpan[] {
  const limits = { from: since, until: horizon };
  const unread = gapsBetween(windows, limits).map((span) => ({ ...span, isNew: true }));
  const due = windows.filter(({ readAt }) => readAt !== null && readAt < cycleStart);
  const again = joined(due, () => true)
    .map((span) => within(span, limits))
    .filter((span) => span.from < span.until)
    .map((span) => ({ ...span, isNew: false }));
  return [...unread, ...again];
}

/**
 * @param closed a span that was read
 * @param readAt start of its cycle
 * @param settledBefore turns before this instant do not change any more; `undefined` where the span was read in part
 */
export function closeWindow(
  windows: ReadWindows,
  closed: TimeSpan,
  readAt: number,
  settledBefore: number | undefined,
): ReadWindow[] {
  const outside = windows.flatMap((one) => [
    ...nonEmpty({ ...one, until: Math.min(one.until, closed.from) }),
    ...nonEmpty({ ...one, from: Math.max(one.from, closed.until) }),
  ]);
  const border = Math.min(closed.until, Math.max(closed.from, settledBefore ?? closed.from));
  const partial = settledBefore === undefined ? ({ isPartial: true } as const) : {};
  const added = [
    ...nonEmpty({ from: closed.from, until: border, readAt: null }),
    ...nonEmpty({ from: border, until: closed.until, readAt, ...partial }),
  ];
  const all = [...outside, ...added].sort((one, other) => one.from - other.from);
  return joined(all, (one, other) => one.readAt === other.readAt && one.isPartial === other.isPartial);
}

/** The end of what was read from `since` on, without a gap and not in part: an honest bookmark. */
export function readUntil(windows: ReadWindows, since: number): number {
  const whole = windows.filter(({ isPartial }) => isPartial !== true);
  const [first] = gapsBetween(whole, { from: since, until: Number.POSITIVE_INFINITY });
  return first?.from ?? since;
}

const nonEmpty = (window: ReadWindow): readonly ReadWindow[] => (window.from < window.until ? [window] : []);

const within = (span: TimeSpan, limits: TimeSpan): TimeSpan => ({
  from: Math.max(span.from, limits.from),
  until: Math.min(span.until, limits.until),
});

function gapsBetween(windows: ReadWindows, { from, until }: TimeSpan): TimeSpan[] {
  const gaps: TimeSpan[] = [];
  let position = from;
  for (const window of windows) {
    if (window.from > position) gaps.push({ from: position, until: Math.min(window.from, until) });
    position = Math.max(position, window.until);
  }
  gaps.push({ from: position, until });
  return gaps.filter((gap) => gap.from < gap.until);
}

function joined<T extends TimeSpan>(spans: readonly T[], isAlike: (one: T, other: T) => boolean): T[] {
  const merged: T[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    const isNext = last?.until === span.from && isAlike(last, span);
    if (isNext) merged[merged.length - 1] = { ...last, until: span.until };
    else merged.push(span);
  }
  return merged;
}

export const shortestStepMs = 60_000;
export const firstStepMs = 3_600_000;
export const longestStepMs = 90 * 86_400_000;
/** A window of this many pages loses little to its last page, which is rarely full. A kill repeats no more than these. */
const aimedPages = 10;

/** How long the next window is, after one of `stepMs` that took `requests`. @param isFull more than half a page of turns */
export function nextStep(
  stepMs: number,
  { requests, isFull }: { readonly requests: number; readonly isFull: boolean },
): number {
  if (requests > aimedPages * 1.5) return Math.max(shortestStepMs, Math.floor(stepMs / 2));
  if (requests <= 1 && !isFull) return Math.min(longestStepMs, stepMs * 4);
  return requests <= aimedPages / 2 ? Math.min(longestStepMs, stepMs * 2) : stepMs;
}
