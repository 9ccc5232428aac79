// How soon a resource is looked at whose status another installation has just written: at once, and the longer the two
// go on the later, a minute apart in the end. So what the other did is put right soon after it was stopped, and two
// that do not stop cost little. Invariant: one look is due for a key at a time; nothing is kept of those long calm.

import type { Clock } from '../../runtime/clock.ts';

const firstDelayMs = 1000;
const longestDelayMs = 60_000;
/** The other is taken for stopped when so long no status was its own. */
const calmMs = 10 * 60_000;

interface Quarrel {
  readonly looks: number;
  /** When the last look was due, monotonic. */
  readonly dueAt: number;
}

/**
 * @param lookAfter asks for a look at a key
 * @returns to be told of each status that another installation wrote
 */
export function createRivalPace(
  clock: Pick<Clock, 'monotonic'>,
  lookAfter: (key: string, delayMs: number) => void,
): (key: string) => void {
  const quarrels = new Map<string, Quarrel>();
  let sweepAt = clock.monotonic() + calmMs;
  const sweep = (now: number): void => {
    if (now < sweepAt) return;
    sweepAt = now + calmMs;
    for (const [key, { dueAt }] of quarrels) if (dueAt + calmMs <= now) quarrels.delete(key);
  };
  return (key) => {
    const now = clock.monotonic();
    sweep(now);
    const known = quarrels.get(key);
    if (known !== undefined && known.dueAt > now) {
      // A pass that came for another reason took that look's place.
      lookAfter(key, known.dueAt - now);
      return;
    }
    const looks = known === undefined || known.dueAt + calmMs <= now ? 0 : known.looks;
    const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(looks, 10));
    quarrels.set(key, { looks: looks + 1, dueAt: now + delayMs });
    lookAfter(key, delayMs);
  };
}
