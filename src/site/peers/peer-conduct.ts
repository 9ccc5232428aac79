// How each of the other servers has behaved, and what follows: who is left out for a while, and how long one that says
// that it is fetching is waited for. Pure but for its memory; time comes in.
// Invariant: whoever wasted our time once gets less of it the next time, until it hands over a good copy.

export interface PeerConduct {
  readonly isLeftOut: (origin: string) => boolean;
  /** It lied, was lost or broke off: not asked for some minutes. */
  readonly drop: (origin: string) => void;
  /** It had no time for us. @returns whether that has gone on for so long that it is left out */
  readonly noteBusy: (origin: string) => boolean;
  /** It was waited for in vain. */
  readonly noteWasted: (origin: string) => void;
  readonly noteGood: (origin: string) => void;
  /** How long one that is fetching may be waited for, in all. */
  readonly patienceMs: (origin: string) => number;
}

const dropMs = 5 * 60_000;
export const stallMs = 10_000;
/** Less than the standstill that ends a wait, so that it is not waited for once more. */
const longestBusyMs = 8_000;
/** Busy is a state of honest servers too. */
const busyDropMs = 60_000;
export const longestWaitMs = 5 * 60_000;

/** @param nowMs on the monotonic clock */
export function createPeerConduct(nowMs: () => number): PeerConduct {
  const leftOutUntil = new Map<string, number>();
  const busy = new Map<string, { readonly since: number; readonly last: number }>();
  const wasted = new Map<string, number>();
  return {
    isLeftOut: (origin) => (leftOutUntil.get(origin) ?? Number.NEGATIVE_INFINITY) > nowMs(),
    drop: (origin) => {
      leftOutUntil.set(origin, nowMs() + dropMs);
    },
    noteBusy: (origin) => {
      const now = nowMs();
      const before = busy.get(origin);
      const since = before !== undefined && now - before.last < longestBusyMs ? before.since : now;
      busy.set(origin, { since, last: now });
      if (now - since < longestBusyMs) return false;
      busy.delete(origin);
      leftOutUntil.set(origin, now + busyDropMs);
      return true;
    },
    noteWasted: (origin) => {
      wasted.set(origin, (wasted.get(origin) ?? 0) + 1);
    },
    noteGood: (origin) => {
      busy.delete(origin);
      wasted.delete(origin);
    },
    patienceMs: (origin) => Math.max(stallMs, longestWaitMs / 2 ** (wasted.get(origin) ?? 0)),
  };
}
