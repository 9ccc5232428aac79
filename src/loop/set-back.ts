// A clock that is set back makes a published link look younger than it is, and nothing in the cluster says so. What
// this process saw does: its wall clock against the one that only grows. Owns the correction, by resource; a process
// that starts later cannot know. Invariants: a clock that is merely adjusted, a thousandth faster or slower, corrects
// nothing; small steps count in sum; one that is set back and forward again, or the
// other way round, was never away.

import type { PublishedBundle } from '../bundle/published-bundle.ts';
import { clockToleranceMs } from '../reconcile/link-timing.ts';
import type { Clock } from '../runtime/clock.ts';
import { type ClockPlace, followAdjustment, placeOf } from '../runtime/clock-place.ts';

/** What is remembered of a published link while this process sees it. */
export interface SeenLink {
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Of the clock, from which the next look measures. */
  readonly place: ClockPlace;
  /** By how much the wall clock was set back under it, in sum; negative where it was set forward. */
  readonly setBackMs: number;
}

type Life = Pick<PublishedBundle, 'issuedAt' | 'expiresAt'>;

/**
 * Looks at the clock, and moves a link's life to where it is on the clock as it is set now.
 *
 * @param links by resource; what is seen is noted there
 * @param link any facts of it with its life in epoch ms, whole seconds
 * @returns the same facts, the life moved
 */
export function correctLife<T extends Life>(
  links: Map<string, SeenLink>,
  id: string,
  link: T,
  clock: Clock,
): T {
  const now = placeOf(clock);
  const { issuedAt, expiresAt } = link;
  const seen = links.get(id);
  if (seen?.issuedAt !== issuedAt || seen.expiresAt !== expiresAt) {
    links.set(id, { issuedAt, expiresAt, place: now, setBackMs: 0 });
    return link;
  }
  const stepMs = seen.place.offsetMs - now.offsetMs;
  const isSet = Math.abs(stepMs) > clockToleranceMs;
  const setBackMs = seen.setBackMs + (isSet ? stepMs : 0);
  const place = isSet ? now : followAdjustment(seen.place, now);
  links.set(id, { issuedAt, expiresAt, place, setBackMs });
  if (setBackMs <= clockToleranceMs) return link;
  const movedMs = Math.ceil(setBackMs / 1000) * 1000;
  return { ...link, issuedAt: issuedAt - movedMs, expiresAt: expiresAt - movedMs };
}
