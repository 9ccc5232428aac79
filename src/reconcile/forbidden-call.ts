// A call that is forbidden (403) while something is published: its operation waits a quarter of an hour, and the key is
// held back from nothing else. The wait is held against the key that it was made with: it is over when the key's
// Secret changes, and once for a new request. Refuses: a key that publishes nothing yet (access.ts). Pure.

import type { Failure, Status } from '../staticexport/status-schema.ts';
import { retryTime } from './backoff.ts';
import { type Observation, pendingRequest } from './observation.ts';

const forbidden = 'Forbidden';
const operations = ['export', 'poll', 'link'] as const;

/** @returns what a failed operation must remember of the call besides its wait; nothing unless it was forbidden */
export function heldAgainst(
  observation: Observation,
  reason: string,
): Pick<Failure, 'secretVersion' | 'request'> {
  if (reason !== forbidden) return {};
  const { key } = observation;
  return {
    secretVersion: key.kind === 'present' ? key.secretVersion : undefined,
    request: pendingRequest(observation),
  };
}

/** Whether a operation waits that another key, or new rights of the same one, could free: nothing tells of these. */
export function isHeldAgainstKey(failure: Failure | undefined, now: number): boolean {
  return failure?.reason === forbidden && retryTime(failure, now) !== undefined;
}

/** The status with no operation waiting over a key that is no longer the one, or that a new request asks to try. */
export function freeLanes(observation: Observation): Status {
  const { status } = observation;
  const { failures } = status;
  if (failures === undefined) return status;
  let freed = failures;
  for (const operation of operations) {
    const failure = failures[operation];
    if (failure !== undefined && isFree(failure, observation))
      freed = { ...freed, [operation]: { ...failure, retryTime: failure.lastFailureTime } };
  }
  return freed === failures ? status : { ...status, failures: freed };
}

function isFree({ reason, secretVersion, request }: Failure, observation: Observation): boolean {
  const { key } = observation;
  if (reason !== forbidden || key.kind !== 'present') return false;
  const pending = pendingRequest(observation);
  const isOtherKey = secretVersion !== undefined && secretVersion !== key.secretVersion;
  return isOtherKey || (pending !== undefined && pending !== request);
}
