// How many starts of one key an export API takes in an hour, where it is asked by project. Owns the one rule of when the
// next start may be sent. Pure. Invariants: no hour has more starts than the budget; one of them is left to people and
// hooks; scheduled starts keep a distance; of the others, who waits longest is first.

import type { ExportCause } from '#operator/staticexport/status-schema.ts';
import { clockToleranceMs } from './link-timing.ts';

/** An hour, and what a start may take on its way: the export API counts it when it arrives. */
const windowMs = 61 * 60_000;

/** Why a start is not sent yet. */
export interface StartDelay {
  /** `StartsSpread`: a scheduled start comes later, as planned: it leaves a distance and a place to others. */
  readonly code: 'StartBudgetUsed' | 'StartsSpread';
  /** Epoch ms. */
  readonly until: number;
}

/** A start that was delayed, and has not been sent since. */
export interface WaitingStart {
  readonly resource: string;
  readonly cause: ExportCause;
  /** When it was delayed first, epoch ms. */
  readonly since: number;
}

/** What is known of the starts of one key. */
export interface StartLine {
  /** Of all starts, in any order. */
  readonly times: readonly number[];
  /** Of other resources. */
  readonly waiting: readonly WaitingStart[];
  readonly lastScheduledAt: number | undefined;
  /** 0: no limit. */
  readonly perHour: number;
}

/** @returns `undefined`: the start may be sent now */
export function delayOfStart(line: StartLine, start: WaitingStart, now: number): StartDelay | undefined {
  const { perHour } = line;
  if (perHour === 0) return undefined;
  const ahead = line.waiting.filter((other) => isBefore(other, start));
  const isScheduled = start.cause === 'Schedule';
  const freeAt = placeAt(line, start.cause, ahead.length, now);
  const until = isScheduled ? Math.max(freeAt, distanceTime(line, ahead, now)) : freeAt;
  if (until <= now) return undefined;
  return { code: isScheduled ? 'StartsSpread' : 'StartBudgetUsed', until };
}

/** A person or a hook asked for it. */
export const isPersonal = (cause: ExportCause): boolean => cause === 'Request' || cause === 'Hook';

function isBefore(one: WaitingStart, other: WaitingStart): boolean {
  const [first, second] = [isPersonal(one.cause), isPersonal(other.cause)];
  if (first !== second) return first;
  return one.since === other.since ? one.resource < other.resource : one.since < other.since;
}

/** When the place behind those ahead is free. Each place is free again a window after its start. */
function placeAt({ times, perHour }: StartLine, cause: ExportCause, ahead: number, now: number): number {
  const most = isPersonal(cause) ? perHour : Math.max(1, perHour - 1);
  const taken = recentStarts(times, now).slice(-most);
  const free = Array.from({ length: most - taken.length }, () => now);
  const places = [...free, ...taken.map((at) => at + windowMs)];
  return (places[ahead % most] ?? now) + windowMs * Math.floor(ahead / most);
}

function distanceTime(
  { lastScheduledAt, perHour }: StartLine,
  ahead: readonly WaitingStart[],
  now: number,
): number {
  const paceMs = Math.ceil(windowMs / Math.max(1, perHour - 1) / 1000) * 1000;
  const scheduled = ahead.filter(({ cause }) => cause === 'Schedule').length;
  const next = lastScheduledAt === undefined || lastScheduledAt > now ? now : lastScheduledAt + paceMs;
  return Math.max(now, next) + paceMs * scheduled;
}

/** Those that still count, earliest first. A time in the future is of a clock that was set back. */
export function recentStarts(times: readonly number[], now: number): readonly number[] {
  return times.filter((at) => at > now - windowMs && at <= now + clockToleranceMs).toSorted((a, b) => a - b);
}
