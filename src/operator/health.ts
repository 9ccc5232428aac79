// When this process is ready, and when only a restart helps. Ready: the resources are known and watched, on standby
// replicas too. Alive: the event loop answers and no reconcile is stuck.
// Refuses: failing liveness during an outage of the cluster, which would restart every replica.

import type { Readiness } from '../runtime/http/admin-port.ts';

export interface HealthFacts {
  readonly isDraining: () => boolean;
  /** Every namespace has been listed, or is refused. */
  readonly isSynced: () => boolean;
  /** Every namespace is refused. */
  readonly isRefused: () => boolean;
  /** Why a watch is interrupted, safe to publish. */
  readonly trouble: () => string | undefined;
  /** Since a list or a watch brought anything. */
  readonly silenceMs: () => number;
  /** Age of the oldest reconcile. */
  readonly longestPassMs: () => number;
  /** A reconcile is aborted after this; at twice this age it ignores the abort. */
  readonly passTimeoutMs: number;
}

/** Three times the limit after which a silent watch is dropped. */
const silenceLimitMs = 3 * 70_000;

export function readinessOf(facts: HealthFacts): Readiness {
  return () => {
    if (facts.isDraining()) return 'shutting down';
    const trouble = facts.trouble();
    const why = trouble === undefined ? '' : `: ${trouble}`;
    if (facts.isRefused()) return `StaticExports cannot be watched${why}`;
    if (!facts.isSynced()) return `waiting for the first list of StaticExports${why}`;
    const silentMs = facts.silenceMs();
    return silentMs > silenceLimitMs
      ? `StaticExports have not been watched for ${Math.round(silentMs / 1000)} s${why}`
      : undefined;
  };
}

export function livenessOf(facts: HealthFacts): Readiness {
  return () => {
    const longestMs = facts.longestPassMs();
    return longestMs > 2 * facts.passTimeoutMs
      ? `a reconcile has been running for ${Math.round(longestMs / 1000)} s and does not stop`
      : undefined;
  };
}
