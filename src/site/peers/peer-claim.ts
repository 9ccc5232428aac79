// Who fetches by link when several servers want the same bundle and none has it: one of them. A pure decision over
// what the others say. Claim first, then look, as in Dekker's algorithm: of two that claim at once at least one sees the
// other, and the lower id goes first. Invariant: as long as the servers hear each other, two never fetch.

import type { PeerWord } from '../../bundle/peer/peer-request.ts';

export type ClaimStep =
  /** Somebody has it: take that copy. */
  | 'take'
  /** Somebody is at it, or before us: no claim of ours, look again later. */
  | 'wait'
  /** Nobody is at it: claim, and look again at once. */
  | 'claim'
  /** Our claim stands, but somebody behind us claims too and must step back first: look again. */
  | 'hold'
  /** Our claim stood alone in a whole look: fetch. */
  | 'fetch';

/**
 * @param ownId this server's
 * @param isClaiming whether our claim was there to be seen before this look began
 * @param words what the other servers said in this look
 */
export function decideClaim(ownId: string, isClaiming: boolean, words: readonly PeerWord[]): ClaimStep {
  if (words.some(({ state }) => state === 'have')) return 'take';
  if (words.some(({ state }) => state === 'fetching')) return 'wait';
  const rivals = words.filter(({ state }) => state === 'claiming');
  if (!isClaiming) return rivals.length > 0 ? 'wait' : 'claim';
  if (rivals.some(({ id }) => id < ownId)) return 'wait';
  return rivals.length > 0 ? 'hold' : 'fetch';
}
