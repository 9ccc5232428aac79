// A forbidden call (403) while a version is published. Its operation waits 15 minutes; other operations may use the
// key. The wait belongs to the key that the call used. It ends when the key's Secret changes, and once for a new
// request. Refuses: a key that publishes nothing yet (access.ts). Pure.

import type { Failure, Status } from '#operator/staticexport/status-schema.ts';
import { retryTime } from './backoff.ts';
import { type Observation, pendingRequest } from './observation.ts';

const forbidden = 'Forbidden';
const operations = ['export', 'poll', 'link'] as const;

/** @returns what a failed operation must store of the call in addition to its wait; nothing unless it was forbidden */
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

/**
 * True if an operation waits and another key, or new permissions for this key, could free it. No watch reports
 * these.
 */
export function isHeldAgainstKey(failure: Failure | undefined, now: number): boolean {
  return failure?.reason === forbidden && retryTime(failure, now) !== undefined;
}

/** The status without waits over a replaced key, or over a key that a new request wants retried. */
export function freeOperations(observation: Observation): Status {
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
