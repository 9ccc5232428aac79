// The interfaces that the loop needs from outside; the interface of the Kubernetes API server is in
// `wire/cluster.ts`. kube, export-api and bundle implement them, or fakes in the simulation. Every read is live and
// by name, and every call takes the reconcile's signal. Refuses: leaking implementation. A port throws
// ClusterError, ExportApiError or BundleError only.

import type { ExportApi } from '../export-api/answers.ts';
import type { WantedGitTarget } from '../staticexport/wanted.ts';
import type { TargetPlan, TargetTask, WantedKeys } from '../targets/target-plan.ts';
import type { EventNote, ObjectKey, StaticExportObject } from '../wire/cluster.ts';
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

/** What a git target wants of its file. */
export interface GitWish {
  readonly target: WantedGitTarget;
  readonly wanted: WantedKeys;
  /** Status remembers that an earlier push wrote the wanted keys, so that other values are another client's. */
  readonly isWritten: boolean;
}

/** What is known of the file. */
export type GitFinding =
  /** The repository is read, or waits for its turn. The end wakes the resource. */
  | { readonly kind: 'pending' }
  /** The branch holds the wanted keys. */
  | { readonly kind: 'held'; readonly commit: string | undefined }
  /** The pull-request branch holds the wanted keys. */
  | { readonly kind: 'awaiting-merge'; readonly commit: string | undefined }
  /** Another client replaced the wanted keys after a push. */
  | { readonly kind: 'reverted'; readonly message: string }
  /** A dry run: these keys would change. */
  | { readonly kind: 'planned'; readonly keys: readonly ('version' | 'digest')[] }
  /** The file cannot be edited; the message has the remedy. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** The repository could not be read or pushed to. Repeated with a back-off. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** With what a later check met. */
export type GitReading = GitFinding & {
  /** Why the repository cannot be read now: the code and the message of the failure. */
  readonly unread?: string;
};

export interface GitTargets {
  /**
   * Never waits and never throws: the repository is read and pushed to between reconciles.
   *
   * @param id of the target within its resource
   * @param isHurried a person waits for the result, so a back-off ends
   */
  find(owner: ObjectKey, id: string, wish: GitWish, isHurried: boolean): GitReading;
  /** Forgets the other targets of the resource. */
  keep(owner: ObjectKey, ids: readonly string[]): void;
}

/** For programs whose resources have no targets. */
export const noGitTargets: GitTargets = { find: () => ({ kind: 'pending' }), keep: () => {} };

/** An API key. Opaque for the same reason as Link: prints as `[redacted]`. */
export interface ExportApiSource {
  /** @param key the raw key, kept only in the returned client */
  connect(baseUrl: string, key: string): ExportApi;
}

export interface Events {
  /** Never throws and never waits. */
  record(object: StaticExportObject, note: EventNote): void;
}
