// How the mirror of a resource is reached: the operator's rules first, then the Secret, read live and by name. Refuses
// to read a Secret for a host that is not allowed. Invariant: credentials stay in the returned value.

import { clusterPolicies } from '#operator/reconcile/failure-policy.ts';
import type { Subject } from '#operator/reconcile/state.ts';
import type { WantedMirror } from '#operator/staticexport/wanted-mirror.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { PublishableFailure } from '#platform/wire/publishable-error.ts';
import type { ActionContext } from '../context.ts';
import type { MirrorPlace } from '../ports.ts';

export type FoundMirrorAccess =
  | { readonly kind: 'found'; readonly place: MirrorPlace }
  | { readonly kind: 'failed'; readonly failure: PublishableFailure };

/** @throws {ClusterError} that ends the reconcile; the signal's reason */
export async function findMirrorAccess(
  { address, endpoint, region, pathStyle, secretName, unlistedMs }: WantedMirror,
  { namespace, name, uid }: ObjectMeta,
  { mirrors, cluster }: Pick<ActionContext, 'mirrors' | 'cluster'>,
  signal: AbortSignal,
): Promise<FoundMirrorAccess> {
  const owner = { namespace, name, uid, isExclusive: unlistedMs !== undefined };
  const place = { address, endpoint, region, pathStyle, owner };
  const refusal = mirrors.refuse(place, secretName !== undefined);
  if (refusal !== undefined) return { kind: 'failed', failure: refusal };
  if (secretName === undefined) return { kind: 'found', place: { ...place, secret: undefined } };
  try {
    const secret = await cluster.readSecret({ namespace, name: secretName }, signal);
    if (secret !== undefined)
      return { kind: 'found', place: { ...place, secret: { name: secretName, data: secret.data } } };
    return failed('SecretMissing', `Secret ${secretName} does not exist. Create it.`);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClusterError) || clusterPolicies[error.code].endsReconcile) throw error;
    return failed('SecretUnreadable', `Secret ${secretName} cannot be read: ${error.message}`);
  }
}

/** A version that steps made, without a mirror: its link leads to another content. */
export function missingMirror({ version, jobId }: Subject): PublishableFailure {
  const what = version === undefined ? `Job ${jobId} is to be` : `Version ${version} was`;
  const message = `${what} changed by spec.transform, and is published from a mirror alone. Set spec.mirror.`;
  return { code: 'Missing', message, retryAfterMs: undefined };
}

function failed(code: string, message: string): FoundMirrorAccess {
  return { kind: 'failed', failure: { code, message, retryAfterMs: undefined } };
}
