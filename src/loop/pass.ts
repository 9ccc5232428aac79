// One pass over one resource: read → classify → choose → do → outputs → status → wake. The order is the design;
// every step is a call away. Refuses: deciding anything itself.

import type { PassEdge, PassOutcome } from './edge.ts';
import type { ObjectKey } from './ports.ts';

/**
 * Brings one StaticExport one step further. Never run twice at once for the same key.
 *
 * @returns when to look again, at the latest
 * @throws {ClusterError} when the cluster could not be read or written; call again with a back-off
 */
export async function runPass(key: ObjectKey, edge: PassEdge, signal: AbortSignal): Promise<PassOutcome> {
  const object = await edge.cluster.readStaticExport(key, signal);
  if (object === undefined) return { wakeAfterMs: undefined, because: 'gone', observed: undefined };
  return { wakeAfterMs: 60_000, because: 'seen', observed: undefined };
}
