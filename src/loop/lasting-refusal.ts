// Calls that the cluster will not answer, and without which a pass knows too little: what is over in a moment (an API server that starts answers 403 until it
// knows the roles; one that is upgraded answers 5xx) fails the pass; what lasts is a state, and status tells it.
// Refuses: guessing at what was not read. Invariant: nothing is believed before it has been so for its time, on this
// process's clock, in every pass that got so far.

import { readInstant } from '../staticexport/instant.ts';
import type { StalledReason } from '../staticexport/reasons.ts';
import type { Status } from '../staticexport/status-schema.ts';
import { ClusterError } from '../wire/cluster-error.ts';
import type { PassEdge } from './edge.ts';
import { type ReadPlace, resourceId } from './memory.ts';
import type { ObjectMeta } from './ports.ts';

/** A right that is missing, or a request that the server will not have. */
const refusalPatienceMs = 10_000;
/** One object that cannot be read (a broken encryption provider) while the resource itself can. */
const outagePatienceMs = 10 * 60_000;
/** After a longer silence nobody knows what was in between. Longer than any back-off, or pause between two looks. */
const forgottenAfterMs = 7 * 60_000;

/** What status says of a place that is not answered for long. */
const reasons: Readonly<Record<ReadPlace, StalledReason>> = {
  key: 'KeyUnreadable',
  output: 'OutputUnreadable',
  confirmation: 'OutputUnreadable',
};

const patienceMs = new Map<ClusterError['code'], number>([
  ['Forbidden', refusalPatienceMs],
  ['Invalid', refusalPatienceMs],
  ['Unavailable', outagePatienceMs],
]);

/** @returns the answer, or why there was none; @throws what says nothing of the object, as it is */
export async function unlessRefused<T>(call: Promise<T>): Promise<T | ClusterError> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ClusterError && patienceMs.has(error.code)) return error;
    throw error;
  }
}

/**
 * Told of every answer of a place.
 *
 * @param status as stored: what was told there needs no patience again
 * @throws {ClusterError} the refusal, while it may be over in a moment
 */
export function believeRefusal(
  place: ReadPlace,
  refusal: ClusterError | undefined,
  metadata: ObjectMeta,
  status: Pick<Status, 'conditions' | 'active'>,
  { memory, clock }: Pick<PassEdge, 'memory' | 'clock'>,
): void {
  const id = resourceId(metadata);
  const reads = memory.refusedReads[place];
  if (refusal === undefined) {
    reads.delete(id);
    return;
  }
  const isTold = status.conditions?.some(({ reason }) => reason === reasons[place]) === true;
  const now = clock.monotonic();
  const known = reads.get(id);
  const isAnew = known === undefined || now - known.seenAt > forgottenAfterMs;
  // Told once, it stays believed when status comes to tell of something else.
  const since = isTold ? Number.NEGATIVE_INFINITY : isAnew ? now : known.since;
  reads.set(id, { since, seenAt: now });
  if (now - since < patienceOf(refusal, status, clock.now())) throw refusal;
}

/** Nobody waits for the end of a link: what its refresh needs is given up, or gone on without, well before. */
function patienceOf({ code }: ClusterError, { active }: Pick<Status, 'active'>, now: number): number {
  const mostMs = patienceMs.get(code) ?? Number.POSITIVE_INFINITY;
  const expiresAt = readInstant(active?.linkExpirationTime);
  if (expiresAt === undefined) return mostMs;
  return Math.min(mostMs, Math.max(refusalPatienceMs, (expiresAt - now) / 4));
}
