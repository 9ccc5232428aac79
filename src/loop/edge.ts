// Everything a pass is given from outside: ports, time, chance, settings, memory; and what it gives back.
// Owns the types only, so that operator, CLI and simulation compose the same pass.

import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { ProcessMemory } from './memory.ts';
import type { Bundles, Cluster, Events, ExportApiSource, ObjectKey, TargetPlanner } from './ports.ts';

export interface OperatorSettings {
  /** Who writes: the lease that is held, `<namespace>/<name>`. */
  readonly operatorLease: string;
  /** The export API where a resource names none. No trailing slash. */
  readonly apiBaseUrl: string | undefined;
  /** What a key may be sent to in addition to `apiBaseUrl`: `host` or `host:port` for https, `http://host:port`. */
  readonly allowedApiHosts: readonly string[];
  /** The deadline of one export-API request, as the client keeps it; an unconfirmed start is sent again after it + 30 s. */
  readonly requestTimeoutMs: number;
  /** Download and reading of one archive. */
  readonly inspectTimeoutMs: number;
}

export interface PassEdge {
  readonly cluster: Cluster;
  readonly exportApi: ExportApiSource;
  readonly bundles: Bundles;
  readonly planner: TargetPlanner;
  readonly events: Events;
  /** Asks for another pass: what the resource was waiting for in the background has ended. Never throws. */
  readonly wake: (key: ObjectKey) => void;
  /** Whether whoever watches the resources knows this one, and of no deletion: what one read misses may be there. */
  readonly isKnown: (key: ObjectKey) => boolean;
  readonly clock: Clock;
  /** For Idempotency-Keys only. */
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: OperatorSettings;
  readonly memory: ProcessMemory;
}

/** What metrics show of a resource; no names beyond its own, no secrets. */
export interface Observed {
  readonly isReady: boolean;
  readonly isSuspended: boolean;
  /** kinds of the classified state: `running`, `fresh`, `satisfied`, … */
  readonly exportState: string;
  readonly linkState: string;
  readonly wantState: string;
  /** The action this pass took: `none`, `start`, `poll`, `issue`, `inspect`. */
  readonly action: string;
  /** Epoch ms. */
  readonly linkExpiresAt: number | undefined;
  readonly linkIssuedAt: number | undefined;
  readonly nextRefreshAt: number | undefined;
  readonly nextExportAt: number | undefined;
  /** Code of the failure of that action, if it failed. */
  readonly actionFailure: string | undefined;
  /** Code of the failure that this pass met, if any: of its action, or of the cluster. */
  readonly failure: string | undefined;
  /** In words, where the failure is not of a call: safe to publish. */
  readonly why?: string | undefined;
  /** Why the export API may not be called at all, if it may not. */
  readonly blockedBy: string | undefined;
}

export interface PassOutcome {
  /** 0 is "again, now"; `undefined` when the object is gone. Never longer than about an hour. */
  readonly wakeAfterMs: number | undefined;
  /** state → action, for the log. */
  readonly because: string;
  /** Another installation that writes the same status. */
  readonly overlapsWith?: string | undefined;
  readonly observed: Observed | undefined;
}
