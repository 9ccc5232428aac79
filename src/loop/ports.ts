// The loop's view of the world: the least it needs, declared here and implemented elsewhere (kube, export-api,
// bundle) or by fakes in the simulation. Every read is live and by name. Every call takes the pass's signal.
// Refuses: leaking implementation. What a port throws is ClusterError, ExportApiError or BundleError only.

import type { ExportApi } from '../export-api/answers.ts';
import type { ValuesPlan, WantedValues } from '../targets/values.ts';
import type { Link } from '../wire/link.ts';

export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** What the loop reads of any object's metadata. */
export interface ObjectMeta extends ObjectKey {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly creationTimestamp?: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
}

/** A custom resource as stored: parsed by `staticexport`, kept raw here so that unknown fields survive. */
export interface StaticExportObject {
  readonly metadata: ObjectMeta;
  readonly spec: unknown;
  readonly status: unknown;
}

export interface SecretObject {
  readonly metadata: ObjectMeta;
  /** Decoded bytes by key. */
  readonly data: Readonly<Record<string, Uint8Array>>;
}

export interface ConfigMapObject {
  readonly metadata: ObjectMeta;
  readonly data: Readonly<Record<string, string>>;
}

/** An object to be applied (server-side apply, manager `static-export-operator`, forced only for our own fields). */
export interface AppliedObject {
  readonly metadata: ObjectKey & {
    /** Of what was read: with it, what is gone by now is a conflict and not made again. */
    readonly uid?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly OwnerReference[];
  };
  /** Text by key; a Secret's implementation encodes it. */
  readonly data: Readonly<Record<string, string>>;
  /** The resourceVersion it had when it was read; `undefined` when there was none, and none may have come since. */
  readonly readVersion: string | undefined;
}

/** A change to one key of somebody else's ConfigMap or Secret, refused (`Conflict`) if it moved since it was read. */
export interface DocumentEdit {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly key: ObjectKey;
  readonly dataKey: string;
  readonly text: string;
  readonly resourceVersion: string;
}

export interface Cluster {
  readStaticExport(key: ObjectKey, signal: AbortSignal): Promise<StaticExportObject | undefined>;
  readSecret(key: ObjectKey, signal: AbortSignal): Promise<SecretObject | undefined>;
  readConfigMap(key: ObjectKey, signal: AbortSignal): Promise<ConfigMapObject | undefined>;
  /** @returns it as stored. @throws ClusterError `Conflict` when it moved, or appeared, since it was read */
  applySecret(object: AppliedObject, signal: AbortSignal): Promise<SecretObject>;
  /** @throws ClusterError `Conflict` as above */
  applyConfigMap(object: AppliedObject, signal: AbortSignal): Promise<void>;
  /** Writes one data key, with the resourceVersion as a precondition. @throws ClusterError `Conflict` */
  editDocument(edit: DocumentEdit, signal: AbortSignal): Promise<void>;
  /**
   * Writes the status subresource with `object.metadata.resourceVersion` as a precondition, and returns the
   * object as stored. `next` is the whole wanted status; fields of `object.status` absent from it are removed.
   * @throws ClusterError `Conflict`
   */
  writeStatus(object: StaticExportObject, next: object, signal: AbortSignal): Promise<StaticExportObject>;
}

/** What a bundle is, without its bytes. */
export interface Inspection {
  readonly digest: string;
  readonly pages: number;
  readonly sizeBytes: number;
}

export interface Bundles {
  /**
   * Downloads and reads the whole archive (in a worker).
   *
   * @param maxBytes of the archive, packed and unpacked, below the program's own limits
   * @throws BundleError
   */
  inspect(link: Link, signal: AbortSignal, maxBytes?: number): Promise<Inspection>;
  /** Asks for one byte. `dead`: 401, 403, 404, 410 or an expired-token answer. A network error decides nothing. */
  probe(link: Link, signal: AbortSignal): Promise<'alive' | 'dead' | 'unknown'>;
}

export interface TargetPlanner {
  /**
   * Plans the edit of a values document, off the main thread: a document that a tenant wrote may cost seconds.
   *
   * @param namespace of the resource: namespaces take turns, and each may have a few documents waiting
   * @returns `undefined` where too many documents of the namespace wait already; a document beyond the planner's
   *   time or memory is `refused`
   * @throws the signal's reason
   */
  planValues(
    namespace: string,
    text: string,
    wanted: WantedValues,
    signal: AbortSignal,
  ): Promise<ValuesPlan | undefined>;
}

/** An API key. Opaque for the same reason as Link: prints as `[redacted]`. */
export interface ExportApiSource {
  /** @param key the raw key, never kept beyond the client it makes */
  connect(baseUrl: string, key: string): ExportApi;
}

/** Something a person should see in `kubectl describe`; aggregated and rate-limited by the implementation. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Events {
  /** Never throws and never waits. */
  record(object: StaticExportObject, note: EventNote): void;
}
