// How many starts of one key an export API takes in an hour, where it is asked by project. Owns the one rule of when the
// next start may be sent. Pure. Invariant: no hour has more starts than the budget, and scheduled starts leave one of
// them to people and hooks.

import type { ExportCause } from '#operator/staticexport/status-schema.ts';
import { clockToleranceMs } from './link-timing.ts';

/** An hour, and what a start may take on its way: the export API counts it when it arrives. */
const windowMs = 61 * 60_000;

/** Why a start is not sent yet. */
export interface StartDelay {
  /** `StartsSpread`: a scheduled start keeps its distance from the start before it. */
  readonly code: 'StartBudgetUsed' | 'StartsSpread';
  /** Epoch ms. */
  readonly until: number;
}

/**
 * @param times of all starts of the key that are known, in any order
 * @param perHour 0: no limit
 * @returns `undefined`: the start may be sent now
 */
export function delayOfStart(
  times: readonly number[],
  perHour: number,
  cause: ExportCause,
  now: number,
): StartDelay | undefined {
  if (perHour === 0) return undefined;
  const recent = recentStarts(times, now);
  const oldest = recent.at(-perHour);
  if (oldest !== undefined) return { code: 'StartBudgetUsed', until: oldest + windowMs };
  const last = recent.at(-1);
  if (cause !== 'Schedule' || last === undefined) return undefined;
  const until = last + Math.ceil(windowMs / Math.max(1, perHour - 1) / 1000) * 1000;
  return until > now ? { code: 'StartsSpread', until } : undefined;
}

/** Those that still count, earliest first. A time in the future is of a clock that was set back. */
export function recentStarts(times: readonly number[], now: number): readonly number[] {
  return times.filter((at) => at > now - windowMs && at <= now + clockToleranceMs).toSorted((a, b) => a - b);
}
