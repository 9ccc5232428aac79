// The StaticExport that a hook names: its shared secret, and the one annotation that the receiver writes. Refuses: lists,
// other writes, and telling an absent object from a forbidden one.

import { createCluster } from '#operator/kube/cluster.ts';
import { staticExports } from '#operator/kube/transport/resource-path.ts';
import type { Transport } from '#operator/kube/transport/transport.ts';
import { annotations, defaultHookSecretKey } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { type HookSecret, readHookSecret } from './verification.ts';

/** The manager of the annotation. */
export const hookFieldManager = 'static-export-webhook';
/**
 * Read where no Secret is named, so that the answer takes as long as with a secret. No object can have this name, because
 * the API server refuses names that begin with a dot.
 */
const absentSecret = '.absent';

/** What a hook names. `secret` is `undefined` where no request can be verified; `why` then says it for the log. */
export interface FoundHook {
  readonly uid: string | undefined;
  readonly secret: HookSecret | undefined;
  readonly why: string | undefined;
  /** The resource wants hooks, so a missing secret is a mistake in the configuration. */
  readonly isWanted: boolean;
}

export interface HookTargets {
  /** @throws {ClusterError} when the Kubernetes API server does not answer */
  find(key: ObjectKey, signal: AbortSignal): Promise<FoundHook>;
  /** Writes the annotation. @throws {ClusterError} `Conflict` if another object has the name by now */
  request(key: ObjectKey, uid: string, token: string, signal: AbortSignal): Promise<void>;
}

export function createHookTargets(transport: Transport): HookTargets {
  const cluster = createCluster(transport);
  return {
    find: async (key, signal) => {
      const object = await unlessHidden(cluster.readStaticExport(key, signal));
      const found = object instanceof ClusterError ? undefined : object;
      const isKept = found !== undefined && found.metadata.deletionTimestamp === undefined;
      const ref = isKept ? parseStaticExport(found).spec?.trigger?.webhook?.secretRef : undefined;
      const name = ref?.name ?? absentSecret;
      const secret = await unlessHidden(cluster.readSecret({ namespace: key.namespace, name }, signal));
      const uid = isKept ? found.metadata.uid : undefined;
      const unfound = { uid, secret: undefined, isWanted: false };
      if (object instanceof ClusterError) return { ...unfound, why: object.message };
      if (uid === undefined) return { ...unfound, why: 'no such StaticExport' };
      if (ref === undefined) return { ...unfound, why: 'no spec.trigger.webhook' };
      if (secret instanceof ClusterError) return { ...unfound, isWanted: true, why: secret.message };
      const dataKey = ref.key ?? defaultHookSecretKey;
      const bytes =
        secret !== undefined && Object.hasOwn(secret.data, dataKey) ? secret.data[dataKey] : undefined;
      const read = readHookSecret(bytes);
      const why =
        read === undefined
          ? `Secret ${ref.name} has no UTF-8 text in key ${dataKey}; set it, such as to the text of openssl rand -hex 32`
          : undefined;
      return { uid, secret: read, why, isWanted: true };
    },
    request: async (key, uid, token, signal) => {
      await transport.call(
        {
          verb: 'patch',
          method: 'PATCH',
          address: { resource: staticExports, ...key },
          query: { fieldManager: hookFieldManager },
          contentType: 'application/merge-patch+json',
          // With the uid another object of the same name is not changed.
          body: { metadata: { uid, annotations: { [annotations.hookRequestedAt]: token } } },
        },
        signal,
      );
    },
  };
}

/** A refusal that depends on the name alone hides whether the object exists. Other errors mean no usable answer. */
async function unlessHidden<T>(reading: Promise<T>): Promise<T | ClusterError> {
  try {
    return await reading;
  } catch (error) {
    const isHiding =
      error instanceof ClusterError && ['Forbidden', 'Invalid', 'NotFound'].includes(error.code);
    if (isHiding) return error;
    throw error;
  }
}
