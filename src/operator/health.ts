// When this process is ready, and when only a restart helps. Ready: the resources are known and watched, on standby
// replicas too. Alive: the event loop answers and no reconcile is stuck.
// Refuses: failing liveness during an outage of the cluster, which would restart every replica.

import type { Readiness } from '#platform/runtime/http/admin-port.ts';
import type { Watches } from './watch/watches.ts';

/** Three times the limit after which a silent watch is dropped. */
const silenceLimitMs = 3 * 70_000;

export function readinessOf(
  watches: Pick<Watches, 'isSynced' | 'isRefused' | 'outage' | 'silenceMs'>,
  shutdown: AbortSignal,
): Readiness {
  return () => {
    if (shutdown.aborted) return 'shutting down';
    const outage = watches.outage();
    const cause = outage === undefined ? '' : `: ${outage}`;
    if (watches.isRefused()) return `StaticExports cannot be watched${cause}`;
    if (!watches.isSynced()) return `waiting for the first list of StaticExports${cause}`;
    const silentMs = watches.silenceMs();
    return silentMs > silenceLimitMs
      ? `StaticExports have not been watched for ${Math.round(silentMs / 1000)} s${cause}`
      : undefined;
  };
}

/** @param timeoutMs after which a reconcile is aborted; at twice this age it ignores the abort */
export function livenessOf(longestReconcileMs: () => number, timeoutMs: number): Readiness {
  return () => {
    const longestMs = longestReconcileMs();
    return longestMs > 2 * timeoutMs
      ? `a reconcile has been running for ${Math.round(longestMs / 1000)} s and does not stop`
      : undefined;
  };
}
