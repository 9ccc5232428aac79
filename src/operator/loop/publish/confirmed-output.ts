// A publication that the output Secret names and status does not: either the status write was lost, or the read
// returned an old Secret. The Kubernetes API server decides which, because it accepts a write based on the read
// only if the Secret is unchanged. Refuses: deciding by clocks, or by reading again. Invariant: neither status nor
// the ConfigMap nor a target goes back to an old Secret.

import { isUnknownToStatus } from '#operator/reconcile/adopt.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { ClusterContext } from '../context.ts';
import type { Gathered } from '../gather.ts';
import { believeRefusal, unlessRefused } from '../lasting-refusal.ts';
import { secretOf } from './outputs.ts';

/**
 * Writes the Secret as it was read, if status does not know what it publishes. This write changes nothing.
 *
 * @returns the input with the Secret as it is stored; with an unreadable Secret if the write got no answer
 * @throws {ClusterError} `Conflict` when the Secret has changed since; nothing was done yet. Any other refusal
 *   until it has lasted
 */
export async function confirmOutput(
  { metadata }: StaticExportObject,
  gathered: Gathered,
  context: ClusterContext,
  signal: AbortSignal,
): Promise<Gathered> {
  const { observation, handles } = gathered;
  const { published, secret } = handles;
  if (published === undefined || secret === undefined || !isUnknownToStatus(observation)) return gathered;
  const written = secretOf(metadata, observation.wanted.outputName, published, secret.metadata);
  const stored = await unlessRefused(context.cluster.applySecret(written, signal));
  const refusal = stored instanceof ClusterError ? stored : undefined;
  believeRefusal('confirmation', refusal, metadata, observation.status, context);
  if (!(stored instanceof ClusterError)) return { observation, handles: { ...handles, secret: stored } };
  const nothing = { secret: undefined, configMap: undefined, published: undefined };
  return {
    observation: { ...observation, output: { kind: 'unreadable', why: stored.message } },
    handles: { ...handles, ...nothing },
  };
}
