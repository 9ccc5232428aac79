// Which resources this operator manages where several operators share a cluster: those whose label names its instance, or
// for an operator without --instance those without the label. Owns the selector and its reading.
// Invariant: no resource belongs to two operators, and a resource that moved to another operator is gone here.

import { labels } from '#operator/staticexport/names.ts';
import type { Cluster } from '#platform/wire/cluster.ts';

/** As the API server reads it (`labelSelector`). */
export function selectorOf(instance: string | undefined): string {
  return instance === undefined ? `!${labels.instance}` : `${labels.instance}=${instance}`;
}

/**
 * The same cluster, where other operators' resources do not exist: a reconcile reads live, and would otherwise continue
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
