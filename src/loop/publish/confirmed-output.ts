// A publication that the output Secret names and status does not: the status write behind it was lost, or the Secret
// that was read is one of the past. Owns the question and who answers it: the cluster takes a write over what was read
// only where it is so still. Refuses: deciding by clocks, or by reading again. Invariant: neither status nor the
// ConfigMap nor a target goes back to a Secret of the past.

import { isUnknownToStatus } from '../../reconcile/adopt.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import type { PassEdge } from '../edge.ts';
import type { Gathered } from '../gather.ts';
import { believeRefusal, unlessRefused } from '../lasting-refusal.ts';
import type { StaticExportObject } from '../ports.ts';
import { secretOf } from './outputs.ts';

/**
 * Writes the Secret as it was read, where status does not know what it publishes: a write that changes nothing.
 *
 * @returns what was gathered, with the Secret as it is stored; as one that may not be read where no answer can be had
 * @throws {ClusterError} `Conflict` when the Secret is another one by now; nothing was done yet. Any other refusal
 *   until it has lasted
 */
export async function confirmOutput(
  { metadata }: StaticExportObject,
  gathered: Gathered,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<Gathered> {
  const { observation, handles } = gathered;
  const { published, secret } = handles;
  if (published === undefined || secret === undefined || !isUnknownToStatus(observation)) return gathered;
  const written = secretOf(metadata, observation.wanted.outputName, published, secret.metadata);
  const stored = await unlessRefused(edge.cluster.applySecret(written, signal));
  const refusal = stored instanceof ClusterError ? stored : undefined;
  believeRefusal('confirmation', refusal, metadata, observation.status, edge);
  if (!(stored instanceof ClusterError)) return { observation, handles: { ...handles, secret: stored } };
  const nothing = { secret: undefined, configMap: undefined, published: undefined };
  return {
    observation: { ...observation, output: { kind: 'unreadable', why: stored.message } },
    handles: { ...handles, ...nothing },
  };
}
