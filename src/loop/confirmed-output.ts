// A publication that the output Secret names and status does not: the status write behind it was lost, or the Secret
// that was read is one of the past. Owns the question and who answers it: the cluster takes a write over what was read
// only where it is so still. Refuses: deciding by clocks, or by reading again. Invariant: neither status nor the
// ConfigMap nor a target goes back to a Secret of the past.

import { isUnknownToStatus } from '../reconcile/adopt.ts';
import type { Observation } from '../reconcile/observation.ts';
import type { PassEdge } from './edge.ts';
import type { Handles } from './gather.ts';
import { secretOf } from './outputs.ts';
import type { StaticExportObject } from './ports.ts';

/**
 * Writes the Secret as it was read, where status does not know what it publishes: a write that changes nothing.
 *
 * @returns the handles, with the Secret as it is stored
 * @throws {ClusterError} `Conflict` when the Secret is another one by now; nothing was done yet
 */
export async function confirmOutput(
  { metadata }: StaticExportObject,
  observation: Observation,
  handles: Handles,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<Handles> {
  const { published, secret } = handles;
  if (published === undefined || secret === undefined || !isUnknownToStatus(observation)) return handles;
  const written = secretOf(metadata, observation.wanted.outputName, published, secret.metadata);
  return { ...handles, secret: await edge.cluster.applySecret(written, signal) };
}
