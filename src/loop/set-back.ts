// A clock that is set back makes a published link look younger than it is, and nothing in the cluster says so. What
// this process saw does: its wall clock against the one that only grows. Owns the correction, by resource; a process
// that starts later cannot know. Invariant: a clock that is merely adjusted, some thousandths faster or slower,
// corrects nothing.

import type { PublishedBundle } from '../bundle/published-bundle.ts';
import { clockToleranceMs } from '../reconcile/link-timing.ts';
import type { Clock } from '../runtime/clock.ts';

/** What is remembered of a published link while this process sees it. */
export interface SeenLink {
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Wall time minus monotonic time, when it was seen last. */
  readonly offsetMs: number;
  /** By how much the wall clock was set back under it, whole seconds. */
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
  const offsetMs = clock.now() - clock.monotonic();
  const { issuedAt, expiresAt } = link;
  const seen = links.get(id);
  const isKnown = seen?.issuedAt === issuedAt && seen.expiresAt === expiresAt;
  const stepMs = isKnown ? seen.offsetMs - offsetMs : 0;
  const before = isKnown ? seen.setBackMs : 0;
  const setBackMs = before + (stepMs > clockToleranceMs ? Math.ceil(stepMs / 1000) * 1000 : 0);
  links.set(id, { issuedAt, expiresAt, offsetMs, setBackMs });
  if (setBackMs === 0) return link;
  return { ...link, issuedAt: issuedAt - setBackMs, expiresAt: expiresAt - setBackMs };
}
