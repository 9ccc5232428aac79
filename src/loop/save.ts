// Writing status: only when it would change something, and the id of a job that was just started at all costs
// short of overwriting somebody else's mark. Every write carries the resourceVersion it is based on.

import { keepForeign } from '../reconcile/status/foreign-fields.ts';
import { isSameStatus, mergeStatus } from '../reconcile/status/status.ts';
import { parseStatus } from '../staticexport/parse.ts';
import type { Status } from '../staticexport/status-schema.ts';
import { ClusterError, type ClusterErrorCode } from '../wire/cluster-error.ts';
import type { PassEdge } from './edge.ts';
import { isWrittenByOther } from './other-operators.ts';
import type { StaticExportObject } from './ports.ts';

const maxSaves = 5;
const firstPauseMs = 200;

/** @throws {ClusterError} `Conflict` when the object moved since it was read */
export async function saveStatus(
  object: StaticExportObject,
  status: Status,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<StaticExportObject> {
  const next = keepForeign(object.status, status);
  const isOursAs = (one: Pick<Status, 'operatorLease'>): boolean =>
    !isWrittenByOther(one, edge.settings.operatorLease);
  // Nearly every pass ends here: what is not written is not copied either.
  if (isOursAs(status) && isSameStatus(object.status, next)) return object;
  // It may have been written since this was drawn up: the name of who did is no change of its own.
  const { operatorLease } = parseStatus(object.status);
  if (isOursAs({ operatorLease }) && isSameStatus(object.status, { ...next, operatorLease })) return object;
  return writeSigned(object, status, edge, signal);
}

/**
 * Writes the status whatever was there before, and into it who wrote it.
 *
 * @throws {ClusterError} `Conflict` as above
 */
export function writeSigned(
  object: StaticExportObject,
  status: Status,
  { cluster, settings }: PassEdge,
  signal: AbortSignal,
): Promise<StaticExportObject> {
  const signed = { ...status, operatorLease: settings.operatorLease };
  return cluster.writeStatus(object, mergeStatus(object.status, signed), signal);
}

/**
 * Saves the id of a started job, over edits of others that came meanwhile and over a cluster that is away for a
 * moment, as long as the mark is still ours: an id that is not saved is a job that nobody follows.
 *
 * @throws {ClusterError}
 */
export async function saveStarted(
  object: StaticExportObject,
  status: Status,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<StaticExportObject> {
  const mark = parseStatus(object.status).start?.key;
  for (let saves = 1; ; saves += 1) {
    try {
      const base = saves === 1 ? object : await edge.cluster.readStaticExport(object.metadata, signal);
      const stored = parseStatus(base?.status);
      // The answer to the write before this one was lost.
      if (base !== undefined && stored.job?.id === status.job?.id) return base;
      if (base !== undefined && stored.start?.key === mark)
        return await saveStatus(base, status, edge, signal);
      throw new ClusterError('NotFound', 'status.start is gone; the started job is not tracked');
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error) || saves >= maxSaves) throw error;
      await edge.clock.after(firstPauseMs * 2 ** (saves - 1), signal);
    }
  }
}

/** 401 too: a token that ended is replaced by the kubelet or by a plugin. */
const passingCodes: readonly ClusterErrorCode[] = [
  'Conflict',
  'Unavailable',
  'TooManyRequests',
  'Unauthorized',
];

function isPassing(error: unknown): boolean {
  return error instanceof ClusterError && passingCodes.includes(error.code);
}
