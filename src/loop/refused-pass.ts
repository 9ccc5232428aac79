// What becomes of a pass when the cluster will not let it finish: who is told, and what goes along with the error.
// Refuses: taking an outage for a refusal; only what stays as it is until a person changes it counts as one.

import { ClusterError } from '../wire/cluster-error.ts';
import type { Observed, PassEdge } from './edge.ts';
import type { StaticExportObject } from './ports.ts';

/** What a pass decided was not taken by the cluster; what it saw is true all the same. */
export class PassRefused extends ClusterError {
  readonly observed: Observed;

  constructor(refusal: ClusterError, observed: Observed) {
    const { code, message, retryAfterMs } = refusal;
    super(code, message, { retryAfterMs, cause: refusal });
    this.observed = observed;
  }
}

/** A right that is missing, or an object that the server will not have: asking again changes nothing. */
export function isLastingRefusal(error: unknown): error is ClusterError {
  return error instanceof ClusterError && (error.code === 'Forbidden' || error.code === 'Invalid');
}

/** Waits for a write of the status. Where that is refused no condition can say so, and an event does. */
export async function tellRefusal<T>(
  write: Promise<T>,
  object: StaticExportObject,
  { events }: Pick<PassEdge, 'events'>,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isLastingRefusal(error)) {
      const message = `Status cannot be written, and what it says may be out of date: ${error.message}.`;
      events.record(object, { type: 'Warning', reason: 'StatusWriteFailed', message });
    }
    throw error;
  }
}

/** Waits for a write of the status, and has a failure carry what was seen. @throws {PassRefused | ClusterError} */
export async function withObserved<T>(write: Promise<T>, observed: Observed): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const isPassing = error instanceof ClusterError && error.code !== 'Conflict' && error.code !== 'Aborted';
    throw isPassing ? new PassRefused(error, observed) : error;
  }
}
