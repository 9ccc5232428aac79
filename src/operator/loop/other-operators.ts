// Finds other operators whose scope overlaps. Each status names its writer's lease, and a foreign lease on a
// resource that this process already manages is an overlap. A foreign lease at the first reconcile is a renamed
// lease or a handed over resource, and causes no event. Invariant: one log line for each other operator, not for
// each resource.

import type { RateLimit } from '#operator/reconcile/observation.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import type { EventNote, StaticExportObject } from '#platform/wire/cluster.ts';
import type { ClusterContext, ReportContext } from './context.ts';
import { resourceId } from './memory.ts';

/** Without a status of the other operator for this long, the overlap has ended. */
export const calmAfterMs = 10 * 60_000;

/** Another operator that writes the same status. */
export interface OtherOperator {
  readonly operatorLease: string;
  readonly calmAfterMs: number;
}

/** True where another operator wrote it. An older version wrote no name. */
export function isWrittenByOther({ operatorLease }: Pick<Status, 'operatorLease'>, own: string): boolean {
  return operatorLease !== undefined && operatorLease !== own;
}

/** Called with every status that a reconcile reads. @returns the operator that overlaps now */
export function findOtherOperator(
  object: StaticExportObject,
  status: Status,
  context: ReportContext,
): OtherOperator | undefined {
  const { memory, settings, clock } = context;
  const { otherOperators } = memory;
  const id = resourceId(object.metadata);
  const { operatorLease } = status;
  if (operatorLease !== undefined && isWrittenByOther(status, settings.operatorLease)) {
    const isOverlap = otherOperators.written.has(id);
    logOnce(operatorLease, isOverlap, id, context);
    if (isOverlap) {
      otherOperators.found.set(id, { operatorLease, at: clock.monotonic() });
      context.events.record(object, overlapEvent(operatorLease, settings.operatorLease));
    }
  }
  const found = otherOperators.found.get(id);
  const calm = found === undefined ? 0 : found.at + calmAfterMs - clock.monotonic();
  if (found !== undefined && calm > 0) return { operatorLease: found.operatorLease, calmAfterMs: calm };
  otherOperators.found.delete(id);
  return undefined;
}

/** True while the resource's overlap has not ended. */
export function isOverlapping(id: string, { memory, clock }: ClusterContext): boolean {
  const found = memory.otherOperators.found.get(id);
  return found !== undefined && found.at + calmAfterMs > clock.monotonic();
}

/** Another operator may use another export API, where a refused key says nothing about this one. */
export function withoutTheirRefusal(
  status: Status,
  { refused }: RateLimit,
  { settings }: ClusterContext,
): Status {
  if (refused !== undefined || !isWrittenByOther(status, settings.operatorLease)) return status;
  return { ...status, refusedKey: undefined };
}

/** Called at the end of a reconcile, when this operator wrote the status. */
export function rememberOwn({ metadata }: StaticExportObject, { memory }: ReportContext): void {
  memory.otherOperators.written.add(resourceId(metadata));
}

const remedy = 'stop one operator, use disjoint --watch-namespaces, or set --instance on one';

function overlapEvent(other: string, own: string): EventNote {
  return {
    type: 'Warning',
    reason: 'OperatorsOverlap',
    message: `Another operator (lease ${other}) also writes this status (own lease ${own}); ${remedy}.`,
  };
}

function logOnce(operatorLease: string, isOverlap: boolean, object: string, context: ReportContext): void {
  const { logged } = context.memory.otherOperators;
  const id = `${isOverlap ? 'overlap' : 'taken'} ${operatorLease}`;
  if (logged.has(id)) return;
  logged.add(id);
  const fields = { object, otherOperatorLease: operatorLease, operatorLease: context.settings.operatorLease };
  if (isOverlap) context.logger.warn(fields, `another operator writes the same StaticExports; ${remedy}`);
  else context.logger.info(fields, 'managing StaticExports whose status another operator wrote');
}
