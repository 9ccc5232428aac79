// How many copies are sent at once, and to whom: the servers of this site have slots of their own, other addresses share
// the rest, and one address never holds all of either. Pure but for its memory.
// Invariant: a slot that was given is given back once, and clients that are not servers of this site take none of theirs.

/** Gives a slot to an address. @returns what gives it back; `undefined` while none is free for that address */
export type TakeSlot = (address: string) => (() => void) | undefined;

export interface SlotLimits {
  /** For servers of this site, and as many again for all other addresses. */
  readonly atOnce: number;
  readonly perAddress: number;
}

export function createCopySlots(
  { atOnce, perAddress }: SlotLimits,
  isPeer: (address: string) => boolean,
): TakeSlot {
  const held = { peers: new Map<string, number>(), others: new Map<string, number>() };
  return (address) => {
    const own = isPeer(address) ? held.peers : held.others;
    const count = own.get(address) ?? 0;
    if (count >= perAddress || sumOf(own) >= atOnce) return undefined;
    own.set(address, count + 1);
    return () => {
      const left = (own.get(address) ?? 0) - 1;
      if (left > 0) own.set(address, left);
      else own.delete(address);
    };
  };
}

function sumOf(held: ReadonlyMap<string, number>): number {
  return held.values().reduce((sum, count) => sum + count, 0);
}
