// Everything that a reconcile gets from outside, as one narrow context for each of its parts; and what it returns.
// Owns types only, so that the operator, the CLI and the simulation compose the same reconcile.

import type { Baseline } from '#operator/reconcile/observation.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import type { Cluster, ForeignObjects, ObjectKey } from '#platform/wire/cluster.ts';
import type { MirrorLocation } from '#platform/wire/mirror-location.ts';
import type { StartTimes } from './calls/start-times.ts';
import type { ProcessMemory } from './memory.ts';
import type {
  Bundles,
  Events,
  ExportApiSource,
  GitTargets,
  Mirrors,
  Notices,
  TargetPlanner,
} from './ports.ts';

export interface OperatorSettings {
  /** The lease that this writer holds, as `<namespace>/<name>`. */
  readonly operatorLease: string;
  /** The export API for resources that name none. No trailing slash. */
  readonly apiBaseUrl: string | undefined;
  /** What a key may be sent to in addition to `apiBaseUrl`: `host` or `host:port` for https, `http://host:port`. */
  readonly allowedApiHosts: readonly string[];
  /**
   * The deadline of one request to the export API, as the client keeps it. The operator sends an unconfirmed start
   * again 30 s after this deadline.
   */
  readonly requestTimeoutMs: number;
  /** The deadline for downloading, inspecting and copying one archive. */
  readonly inspectTimeoutMs: number;
  /** The mirror for resources that name none. */
  readonly defaultMirror?: MirrorLocation | undefined;
  /** False where the program reads no Secret again, and may end after a failure. Default: true. */
  readonly saysNext?: boolean;
  /** A command waits for the export: a failed start has the back-off of a poll. Default: false. */
  readonly isAwaited?: boolean | undefined;
  /** False where no user wrote the Secret of the key. Default: true. */
  readonly namesKeySecret?: boolean | undefined;
  /** Starts that one key may have in an hour, where the export API is asked by project; 0: no limit. */
  readonly startsPerHour: number;
  /** What the first version is compared with, where nothing is published here. Default: nothing. */
  readonly baseline?: Baseline | undefined;
  /** By the name of the step. Default: those of this program. */
  readonly stepRevisions?: Readonly<Record<string, number>> | undefined;
}

/** Objects read and written by name, and the process's memory of the resource. */
export interface ClusterContext {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly settings: OperatorSettings;
  readonly memory: ProcessMemory;
}

/** The one action of a reconcile: a call to the export API, or an inspection. */
export interface ActionContext extends ClusterContext {
  readonly exportApi: ExportApiSource;
  readonly bundles: Bundles;
  readonly mirrors: Mirrors;
  /** The starts of all known resources with one key, as their status holds them. @param budget of `startBudgetId` */
  readonly startTimesOf: (budget: string) => StartTimes;
  /** For Idempotency-Keys only. */
  readonly random: Random;
  readonly wake: Wake;
}

/** Targets, whose edits are planned between reconciles. */
export interface TargetContext extends Pick<ClusterContext, 'cluster' | 'clock' | 'memory'> {
  readonly planner: TargetPlanner;
  /** Objects of other owners: releases, Applications, workloads. */
  readonly objects: ForeignObjects;
  readonly git: GitTargets;
  readonly wake: Wake;
}

/** The log and events. */
export interface ReportContext extends Pick<ClusterContext, 'clock' | 'settings' | 'memory'> {
  readonly events: Events;
  readonly notices: Notices;
  readonly logger: Logger;
}

export interface ReconcileContext extends ActionContext, TargetContext, ReportContext {
  /** True if the watch knows this resource and saw no deletion. A read that returns 404 may then have missed it. */
  readonly isKnown: (key: ObjectKey) => boolean;
}

/** Requests another reconcile, because the background work that the resource waited for has ended. Never throws. */
type Wake = (key: ObjectKey) => void;

/** What metrics show of a resource. Contains no names other than its own, and no secrets. */
export interface ReconcileReport {
  readonly isReady: boolean;
  readonly isSuspended: boolean;
  /** The action of this reconcile: `none`, `start`, `poll`, `issue`, `inspect`. */
  readonly action: string;
  /** Epoch ms. */
  readonly linkExpiresAt: number | undefined;
  readonly linkIssuedAt: number | undefined;
  readonly nextRefreshAt: number | undefined;
  readonly nextExportAt: number | undefined;
  /** The code of that action's failure, if it failed. */
  readonly actionFailure: string | undefined;
  /** The code of this reconcile's failure, if any: from its action or from the Kubernetes API server. */
  readonly failure: string | undefined;
  /** The failure as text that is safe to publish, if no call failed. */
  readonly why?: string | undefined;
  /** Why the export API must not be called at all, if that is so. */
  readonly blockedBy: string | undefined;
}

export interface ReconcileOutcome {
  /** 0 means "reconcile again now"; `undefined` means that the object is gone. Never longer than about an hour. */
  readonly wakeAfterMs: number | undefined;
  /** state → action, for the log. */
  readonly because: string;
  /** Another operator that writes the same status. */
  readonly overlapsWith?: string | undefined;
  readonly report: ReconcileReport | undefined;
}
