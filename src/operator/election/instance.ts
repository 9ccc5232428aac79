// Which resources are this installation's, where several share a cluster: those whose label names its instance, and
// for an installation without a name those that have no such label. Owns the selector and its reading.
// Invariant: no resource belongs to two installations, and one that moved to another is gone here.

import type { Cluster } from '../../loop/ports.ts';
import { labels } from '../../staticexport/names.ts';

/** As the API server reads it (`labelSelector`). */
export function selectorOf(instance: string | undefined): string {
  return instance === undefined ? `!${labels.instance}` : `${labels.instance}=${instance}`;
}

/**
 * The same cluster in which other installations' resources do not exist: a pass reads live, and would else go on
 * with a resource that was given to another operator a moment ago.
 */
export function selectInstance(cluster: Cluster, instance: string | undefined): Cluster {
  return {
    ...cluster,
    readStaticExport: async (key, signal) => {
      const object = await cluster.readStaticExport(key, signal);
      return object?.metadata.labels[labels.instance] === instance ? object : undefined;
    },
  };
}
