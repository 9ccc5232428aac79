// Installations of the operator whose scopes overlap with this one's: each status names who wrote it, and a name that
// is not ours, on a resource that this process has looked after already, means that two do. A name that is found first
// is a lease that was renamed, or a resource handed over: taken over without a word to its owner.
// Owns the words. Invariant: one line of log for each installation, not for each resource.

import type { GateState } from '../reconcile/observation.ts';
import type { Status } from '../staticexport/status-schema.ts';
import type { PassEdge } from './edge.ts';
import { resourceId } from './memory.ts';
import type { EventNote, StaticExportObject } from './ports.ts';

/** So long after its last status nothing is expected of the other any more. */
export const calmAfterMs = 10 * 60_000;

/** Another installation that writes the same status. */
export interface Rival {
  readonly operatorLease: string;
  readonly calmAfterMs: number;
}

/** True where another installation wrote it. Without a name it is nobody's: an older version wrote it. */
export function isWrittenByOther({ operatorLease }: Pick<Status, 'operatorLease'>, own: string): boolean {
  return operatorLease !== undefined && operatorLease !== own;
}

/** Told of every status as it is read by a pass. @returns who disputes the resource at present */
export function findRival(object: StaticExportObject, status: Status, edge: PassEdge): Rival | undefined {
  const { memory, settings, clock } = edge;
  const { rivals } = memory;
  const id = resourceId(object.metadata);
  const { operatorLease } = status;
  if (operatorLease !== undefined && isWrittenByOther(status, settings.operatorLease)) {
    const isDisputed = rivals.ours.has(id);
    nameOnce(operatorLease, isDisputed, id, edge);
    if (isDisputed) {
      rivals.found.set(id, { operatorLease, at: clock.monotonic() });
      edge.events.record(object, noteOf(operatorLease, settings.operatorLease));
    }
  }
  const found = rivals.found.get(id);
  const calm = found === undefined ? 0 : found.at + calmAfterMs - clock.monotonic();
  if (found !== undefined && calm > 0) return { operatorLease: found.operatorLease, calmAfterMs: calm };
  rivals.found.delete(id);
  return undefined;
}

/** True while another installation wrote the resource's status not long ago. */
export function isDisputed(id: string, { memory, clock }: PassEdge): boolean {
  const found = memory.rivals.found.get(id);
  return found !== undefined && found.at + calmAfterMs > clock.monotonic();
}

/** Another installation may have asked another API, and a key that was refused there is good here. */
export function withoutTheirRefusal(status: Status, { refused }: GateState, { settings }: PassEdge): Status {
  if (refused !== undefined || !isWrittenByOther(status, settings.operatorLease)) return status;
  return { ...status, refusedKey: undefined };
}

/** Told of every resource at the end of a pass, when its status is ours. */
export function noteOwn({ metadata }: StaticExportObject, { memory }: PassEdge): void {
  memory.rivals.ours.add(resourceId(metadata));
}

/** What to do, for whoever can do it. */
const remedy =
  'stop one of them, or separate their scopes: namespaces that do not overlap, or a name of its own (--instance) for one';

function noteOf(other: string, own: string): EventNote {
  return {
    type: 'Warning',
    reason: 'OperatorsOverlap',
    message: `The operator with lease ${other} writes this status, and so does this one with lease ${own}: ${remedy}.`,
  };
}

function nameOnce(operatorLease: string, isDisputed: boolean, object: string, edge: PassEdge): void {
  const { named } = edge.memory.rivals;
  const id = `${isDisputed ? 'disputed' : 'taken'} ${operatorLease}`;
  if (named.has(id)) return;
  named.add(id);
  const fields = { object, otherOperatorLease: operatorLease, operatorLease: edge.settings.operatorLease };
  if (isDisputed) edge.logger.warn(fields, `another operator writes the same StaticExports; ${remedy}`);
  else edge.logger.info(fields, 'this operator took over StaticExports of another operator');
}
