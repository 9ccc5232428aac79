// When a StaticExport counts as gone, by what a read returns and what the watches know. Either may be ahead of the other:
// a deletion overtakes its event, and a 404 may come from a server that does not know the object yet.
// Invariants: a resource that the watches know is requeued; a deleted one is not read without end.

import type { Cluster, ObjectMeta } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';

/** True if the watches know the resource, and no deletion of it. */
export function isPresent(
  known: { readonly metadata: Pick<ObjectMeta, 'deletionTimestamp'> } | undefined,
): boolean {
  return known !== undefined && known.metadata.deletionTimestamp === undefined;
}

/** The event of an ordinary deletion arrives long before. */
const checkAgainMs = 60_000;

/**
 * The time after which a resource is requeued; `undefined`: only when a watch reports it again.
 *
 * @param wakeAfterMs as the reconcile asked; `undefined` where it found the resource gone or terminating
 * @param isKnown whether the watches know the resource, and no deletion of it
 */
export function nextLookMs(wakeAfterMs: number | undefined, isKnown: boolean): number | undefined {
  return wakeAfterMs ?? (isKnown ? checkAgainMs : undefined);
}

/**
 * The same cluster, where a resource that the watches saw deleted is gone even if it cannot be read: without its CRD or the
 * namespace's permissions, no read can return that it is gone.
 */
export function trustWatchedDeletions(cluster: Cluster, isKnown: (key: string) => boolean): Cluster {
  return {
    ...cluster,
    readStaticExport: async (key, signal) => {
      try {
        return await cluster.readStaticExport(key, signal);
      } catch (error) {
        const isUnread = error instanceof ClusterError && unreadableCodes.has(error.code);
        if (isUnread && !isKnown(`${key.namespace}/${key.name}`)) return undefined;
        throw error;
      }
    },
  };
}

const unreadableCodes: ReadonlySet<ClusterError['code']> = new Set(['Unavailable', 'Forbidden']);
