// The Kubernetes API server as a reconcile needs it: stored objects, and the calls that read and write them by
// name. `kube` implements it, and the simulation fakes it. Owns types only. Every call throws only ClusterError.

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

/** The metadata that the operator reads of any object. */
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

/** A custom resource as stored. `staticexport` parses it; here it stays raw so that unknown fields are kept. */
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

/** An object for server-side apply (manager `static-export-operator`, forced only for its own fields). */
export interface AppliedObject {
  readonly metadata: ObjectKey & {
    /**
     * Of the object that was read. If that object is deleted by now, applying is a conflict and does not create it
     * again.
     */
    readonly uid?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly OwnerReference[];
  };
  /** Text by key; a Secret's implementation encodes it. */
  readonly data: Readonly<Record<string, string>>;
  /** The resourceVersion that was read; `undefined` if there was no object, and applying must create it. */
  readonly readVersion: string | undefined;
}

/**
 * A change to one key of another owner's ConfigMap or Secret. Refused (`Conflict`) if the object changed since the
 * read.
 */
export interface DocumentEdit {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly key: ObjectKey;
  readonly dataKey: string;
  readonly text: string;
  readonly resourceVersion: string;
}

/** Kinds of other owners' objects that a target writes. */
export const targetKinds = ['HelmRelease', 'Application', 'Deployment', 'StatefulSet', 'DaemonSet'] as const;
/** Those, and what says who owns one. */
export type ForeignKind = (typeof targetKinds)[number] | 'ApplicationSet';

export interface ForeignObject {
  readonly metadata: ObjectMeta;
  /** The whole object as stored, with its managed fields. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** Server-side apply of these fields alone, never forced. Fields of an earlier apply that are absent are released. */
export interface FieldsEdit {
  readonly kind: ForeignKind;
  readonly key: ObjectKey;
  /** Of the object that was read, so that an absent one is not created. */
  readonly uid: string;
  /** Top-level fields other than apiVersion, kind and metadata; annotations of the object cannot be written. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One operation of a JSON Patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: 'add' | 'replace' | 'remove' | 'test';
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly value?: unknown;
}

/** Refused as a whole if a `test` fails. A status that changes meanwhile does not matter. */
export interface ForeignPatch {
  readonly kind: ForeignKind;
  readonly key: ObjectKey;
  readonly uid: string;
  readonly operations: readonly JsonPatchOperation[];
}

/** Objects of other owners, read and written by name. */
export interface ForeignObjects {
  /** @returns `undefined` if it does not exist */
  readForeign(kind: ForeignKind, key: ObjectKey, signal: AbortSignal): Promise<ForeignObject | undefined>;
  /**
   * @throws ClusterError `FieldConflict` if another manager owns one of the fields, `Conflict` if the object with this
   *   uid is gone
   */
  applyFields(edit: FieldsEdit, signal: AbortSignal): Promise<void>;
  /** @throws ClusterError `Invalid` if a `test` fails or an operation does not apply */
  patchForeign(patch: ForeignPatch, signal: AbortSignal): Promise<void>;
}

export interface Cluster {
  readStaticExport(key: ObjectKey, signal: AbortSignal): Promise<StaticExportObject | undefined>;
  readSecret(key: ObjectKey, signal: AbortSignal): Promise<SecretObject | undefined>;
  readConfigMap(key: ObjectKey, signal: AbortSignal): Promise<ConfigMapObject | undefined>;
  /** @returns it as stored. @throws ClusterError `Conflict` if it was changed or created since the read */
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

/** An event for `kubectl describe`. */
/** What a notification is about. */
export const noticeKinds = ['Published', 'Held', 'Failed', 'Recovered'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}
