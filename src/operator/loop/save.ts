// Writes status, only if that changes something. Saves the id of a started job against all conflicts, unless that
// would overwrite another client's start record. Every write carries the resourceVersion that it is based on.

import { clusterPolicies } from '#operator/reconcile/failure-policy.ts';
import { keepForeign } from '#operator/reconcile/status/foreign-fields.ts';
import { isSameStatus, mergeStatus } from '#operator/reconcile/status/status.ts';
import { parseStatus } from '#operator/staticexport/parse.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { ClusterContext } from './context.ts';
import { isWrittenByOther } from './other-operators.ts';

const maxSaves = 5;
const firstPauseMs = 200;

/** @throws {ClusterError} `Conflict` when the object changed since it was read */
export async function saveStatus(
  object: StaticExportObject,
  status: Status,
  context: ClusterContext,
  signal: AbortSignal,
): Promise<StaticExportObject> {
  const next = keepForeign(object.status, status);
  const isOursAs = (one: Pick<Status, 'operatorLease'>): boolean =>
    !isWrittenByOther(one, context.settings.operatorLease);
  // Nearly every reconcile ends here, so nothing is copied unless it is written.
  if (isOursAs(status) && isSameStatus(object.status, next)) return object;
  // Another write may have happened since `next` was made. A new writer's name alone is not a change.
  const { operatorLease } = parseStatus(object.status);
  if (isOursAs({ operatorLease }) && isSameStatus(object.status, { ...next, operatorLease })) return object;
  return writeSigned(object, status, context, signal);
}

/**
 * Writes the status without comparing it first, and adds the writer's lease.
 *
 * @throws {ClusterError} `Conflict` as above
 */
export function writeSigned(
  object: StaticExportObject,
  status: Status,
  { cluster, settings }: ClusterContext,
  signal: AbortSignal,
): Promise<StaticExportObject> {
  const signed = { ...status, operatorLease: settings.operatorLease };
  return cluster.writeStatus(object, mergeStatus(object.status, signed), signal);
}

/**
 * Saves the id of a started job. Retries after edits by other clients and after short failures of the API server,
 * while the start record is still this operator's. Without the saved id, no reconcile would track the job.
 *
 * @throws {ClusterError}
 */
export async function saveStarted(
  object: StaticExportObject,
  status: Status,
  context: ClusterContext,
  signal: AbortSignal,
): Promise<StaticExportObject> {
  const record = parseStatus(object.status).start?.key;
  for (let saves = 1; ; saves += 1) {
    try {
      const base = saves === 1 ? object : await context.cluster.readStaticExport(object.metadata, signal);
      const stored = parseStatus(base?.status);
      // The response to the previous write was lost.
      if (base !== undefined && stored.job?.id === status.job?.id) return base;
      if (base !== undefined && stored.start?.key === record)
        return await saveStatus(base, status, context, signal);
      throw new ClusterError('NotFound', 'status.start is gone; the started job is not tracked');
    } catch (error) {
      signal.throwIfAborted();
      const isBrief = error instanceof ClusterError && clusterPolicies[error.code].isBrief;
      if (!isBrief || saves >= maxSaves) throw error;
      await context.clock.after(firstPauseMs * 2 ** (saves - 1), signal);
    }
  }
}
