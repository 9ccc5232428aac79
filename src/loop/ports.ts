// The interfaces that the loop needs from outside; the interface of the Kubernetes API server is in
// `wire/cluster.ts`. kube, export-api and bundle implement them, or fakes in the simulation. Every read is live and
// by name, and every call takes the reconcile's signal. Refuses: leaking implementation. A port throws
// ClusterError, ExportApiError or BundleError only.

import type { ExportApi } from '../export-api/answers.ts';
import type { TargetPlan, TargetTask } from '../targets/target-plan.ts';
import type { EventNote, StaticExportObject } from '../wire/cluster.ts';
import type { Link } from '../wire/link.ts';

/** What a bundle is, without its bytes. */
export interface Inspection {
  readonly digest: string;
  readonly pages: number;
  readonly sizeBytes: number;
}

export interface Bundles {
  /**
   * Downloads and inspects the whole archive (in a worker).
   *
   * @param maxBytes of the archive, packed and unpacked, below the program's own limits
   * @throws BundleError
   */
  inspect(link: Link, signal: AbortSignal, maxBytes?: number): Promise<Inspection>;
  /** Requests one byte. `expired`: 401, 403, 404, 410 or an expired-token answer. A network error decides nothing. */
  probe(link: Link, signal: AbortSignal): Promise<'valid' | 'expired' | 'unknown'>;
}

export interface TargetPlanner {
  /**
   * Plans the edit of a target off the main thread, because a tenant's document may take seconds.
   *
   * @param namespace of the resource: namespaces take turns, and each may have a few targets waiting
   * @returns `undefined` when too many targets of the namespace wait already; an object beyond the planner's time or
   *   memory is `refused`
   * @throws the signal's reason
   */
  plan(namespace: string, task: TargetTask, signal: AbortSignal): Promise<TargetPlan | undefined>;
}

/** An API key. Opaque for the same reason as Link: prints as `[redacted]`. */
export interface ExportApiSource {
  /** @param key the raw key, kept only in the returned client */
  connect(baseUrl: string, key: string): ExportApi;
}

export interface Events {
  /** Never throws and never waits. */
  record(object: StaticExportObject, note: EventNote): void;
}
