// A clock that is set back makes a published link appear younger than it is, and nothing in the cluster shows that.
// This process detects it: it compares its wall clock with the monotonic clock. Owns the correction, by resource; a
// process that starts later cannot know. Invariants: a clock that is merely slewed, by up to a thousandth, corrects
// nothing. Small steps add up. Setting a clock back and forward again, or forward and back, leaves no correction.

import { clockToleranceMs } from '#operator/reconcile/link-timing.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { type ClockReading, followAdjustment, readClocks } from '#platform/runtime/clock-reading.ts';
import type { LinkTimes } from '#platform/wire/publication.ts';

/** What this process remembers of a published link that it sees. */
export interface SeenLink extends LinkTimes {
  /** The clock's reading from which the next call measures. */
  readonly reading: ClockReading;
  /** By how much the wall clock was set back since then, in total; negative if it was set forward. */
  readonly setBackMs: number;
}

/**
 * Reads the clock, and moves a link's times to match the clock as it is set now.
 *
 * @param links by resource; the function stores the observation there
 * @param link any value with the times of a link
 * @returns the same value with its times moved
 */
export function correctTimes<T extends LinkTimes>(
  links: Map<string, SeenLink>,
  id: string,
  link: T,
  clock: Clock,
): T {
  const now = readClocks(clock);
  const { issuedAt, expiresAt } = link;
  const seen = links.get(id);
  if (seen?.issuedAt !== issuedAt || seen.expiresAt !== expiresAt) {
    links.set(id, { issuedAt, expiresAt, reading: now, setBackMs: 0 });
    return link;
  }
  const stepMs = seen.reading.offsetMs - now.offsetMs;
  const isSet = Math.abs(stepMs) > clockToleranceMs;
  const setBackMs = seen.setBackMs + (isSet ? stepMs : 0);
  const reading = isSet ? now : followAdjustment(seen.reading, now);
  links.set(id, { issuedAt, expiresAt, reading, setBackMs });
  if (setBackMs <= clockToleranceMs) return link;
  const movedMs = Math.ceil(setBackMs / 1000) * 1000;
  return { ...link, issuedAt: issuedAt - movedMs, expiresAt: expiresAt - movedMs };
}
