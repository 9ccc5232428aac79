// When a StaticExport counts as gone: what a read says and what the watches know, taken together. Either may be ahead
// of the other: a deletion overtakes its event, and a 404 may come of a server that does not know the object yet.
// Invariants: what the watches know is looked at again; what they saw go is not asked for without end.

import type { Cluster, ObjectMeta } from '../../loop/ports.ts';
import { ClusterError } from '../../wire/cluster-error.ts';

/** Whether the watches know a resource, and of no deletion. */
export function isPresent(
  known: { readonly metadata: Pick<ObjectMeta, 'deletionTimestamp'> } | undefined,
): boolean {
  return known !== undefined && known.metadata.deletionTimestamp === undefined;
}

/** The event of an ordinary deletion is here long before. */
const doubtMs = 60_000;

/**
 * When to look at a resource next, whatever its pass said; `undefined`: not before it is heard of again.
 *
 * @param wakeAfterMs what the pass said; `undefined` where it found the resource gone, or on its way
 * @param isKnown whether the watches know the resource, and of no deletion
 */
export function nextLookMs(wakeAfterMs: number | undefined, isKnown: boolean): number | undefined {
  return wakeAfterMs ?? (isKnown ? doubtMs : undefined);
}

/**
 * The same cluster, in which what the watches saw go is gone even where it cannot be read: with its CRD, or its
 * namespace's rights, the read that would say so goes too.
 */
export function believeWatches(cluster: Cluster, isKnown: (key: string) => boolean): Cluster {
  return {
    ...cluster,
    readStaticExport: async (key, signal) => {
      try {
        return await cluster.readStaticExport(key, signal);
      } catch (error) {
        const isUnread = error instanceof ClusterError && unread.has(error.code);
        if (isUnread && !isKnown(`${key.namespace}/${key.name}`)) return undefined;
        throw error;
      }
    },
  };
}

const unread: ReadonlySet<ClusterError['code']> = new Set(['Unavailable', 'Forbidden']);
