// When this process is ready, and when only a restart would help it. Ready: the resources are known and watched
// (standby replicas too). Alive: the event loop answers and no pass is stuck.
// Refuses: failing liveness because others are down; that would restart every replica in an outage.

import type { Readiness } from '../runtime/http/admin-port.ts';

export interface HealthFacts {
  readonly isDraining: () => boolean;
  /** Every namespace has been listed, or is refused. */
  readonly isSynced: () => boolean;
  /** Every namespace is refused. */
  readonly isRefused: () => boolean;
  /** Why a watch is interrupted, safe to publish. */
  readonly trouble: () => string | undefined;
  /** Since anything came by a list or over a watch. */
  readonly silenceMs: () => number;
  /** Age of the oldest pass under way. */
  readonly longestPassMs: () => number;
  /** A pass is aborted after this; twice as old, it has not listened. */
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
      ? `a pass has been running for ${Math.round(longestMs / 1000)} s and does not end`
      : undefined;
  };
}
