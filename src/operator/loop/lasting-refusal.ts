// Reads that the Kubernetes API server refuses and that a reconcile cannot do without. A short refusal fails the
// reconcile: a starting API server returns 403 until it has loaded the roles, and during an upgrade it returns 5xx.
// A lasting refusal is a state, and status reports it. Refuses: guessing at unread objects. Invariant: a refusal
// counts only when every reconcile that got this far saw it for its whole time, measured on this process's clock.

import { clusterPolicies, readStallMs } from '#operator/reconcile/failure-policy.ts';
import type { StalledReason } from '#operator/staticexport/reasons.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { readInstant } from '#platform/wire/instant.ts';
import type { ClusterContext } from './context.ts';
import { type RequiredRead, resourceId } from './memory.ts';

/**
 * After a longer silence the process does not know what happened meanwhile. Longer than any back-off or requeue
 * delay.
 */
const forgottenAfterMs = 7 * 60_000;

/** The reason in status when an object stays unreadable. */
const reasons: Readonly<Record<RequiredRead, StalledReason>> = {
  key: 'KeyUnreadable',
  output: 'OutputUnreadable',
  confirmation: 'OutputUnreadable',
};

/** @returns the answer, or the refusal; @throws errors that say nothing about the object, unchanged */
export async function unlessRefused<T>(call: Promise<T>): Promise<T | ClusterError> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ClusterError && clusterPolicies[error.code].stallsAfterMs !== undefined)
      return error;
    throw error;
  }
}

/**
 * Call this with every answer to a required read.
 *
 * @param status as stored: a refusal that it already reports is believed at once
 * @throws {ClusterError} the refusal, while it may still be short
 */
export function believeRefusal(
  read: RequiredRead,
  refusal: ClusterError | undefined,
  metadata: ObjectMeta,
  status: Pick<Status, 'conditions' | 'active'>,
  { memory, clock }: ClusterContext,
): void {
  const id = resourceId(metadata);
  const reads = memory.refusedReads[read];
  if (refusal === undefined) {
    reads.delete(id);
    return;
  }
  const isReported = status.conditions?.some(({ reason }) => reason === reasons[read]) === true;
  const now = clock.monotonic();
  const known = reads.get(id);
  const isNew = known === undefined || now - known.seenAt > forgottenAfterMs;
  // Once reported, the refusal stays believed when status reports another problem later.
  const since = isReported ? Number.NEGATIVE_INFINITY : isNew ? now : known.since;
  reads.set(id, { since, seenAt: now });
  const expiresAt = readInstant(status.active?.linkExpirationTime);
  const remainingMs = expiresAt === undefined ? undefined : expiresAt - clock.now();
  if (now - since < readStallMs(refusal.code, remainingMs)) throw refusal;
}
