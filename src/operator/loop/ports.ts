// The interfaces that the loop needs from outside; the interface of the Kubernetes API server is in
// `wire/cluster.ts`. kube, export-api and bundle implement them, or fakes in the simulation. Every read is live and
// by name, and every call takes the reconcile's signal. Refuses: leaking implementation. A port throws
// ClusterError, ExportApiError or PublishableError only.

import type { ExportApi, ExportApiAddress } from '#export-api/answers.ts';
import type { ContentNote, RepairedFiles } from '#operator/reconcile/result.ts';
import type { WantedGitTarget } from '#operator/staticexport/wanted.ts';
import type { WantedMirror } from '#operator/staticexport/wanted-mirror.ts';
import type { KeyName, TargetPlan, TargetTask, WantedKeys } from '#operator/targets/target-plan.ts';
import type { EventNote, ObjectKey, StaticExportObject } from '#platform/wire/cluster.ts';
import type { Link } from '#platform/wire/link.ts';
import type { MirrorLocation } from '#platform/wire/mirror-location.ts';
import type { PublishableError, PublishableFailure } from '#platform/wire/publishable-error.ts';
import type { Notice } from './notices.ts';

/** What a bundle is, without its bytes. */
export interface Inspection {
  readonly digest: string;
  readonly pages: number;
  readonly sizeBytes: number;
  /** What visitors would miss. */
  readonly notes?: readonly ContentNote[];
  /** What the steps changed; absent: there were none. */
  readonly repaired?: readonly RepairedFiles[];
}

export interface Bundles {
  /**
   * Downloads and inspects the whole archive (in a worker).
   *
   * @param maxBytes of the archive, packed and unpacked, below the program's own limits
   * @throws PublishableError
   */
  inspect(link: Link, signal: AbortSignal, maxBytes?: number): Promise<Inspection>;
  /** Requests one byte. Returns what a clear answer says against the link. A network error decides nothing. */
  probe(link: Link, signal: AbortSignal): Promise<PublishableError | undefined>;
}

/** How a mirror is reached: its place, and the resource's own credentials. */
export interface MirrorPlace extends MirrorLocation {
  /** Decoded bytes by key; `undefined`: the operator's default mirror, with the operator's own credentials. */
  readonly secret: { readonly name: string; readonly data: Readonly<Record<string, Uint8Array>> } | undefined;
  /**
   * Whose copies may be deleted here. A mirror that carries another owner's record is refused; where this is set, the
   * record is written first.
   */
  readonly owner: MirrorOwner;
}

export interface MirrorOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `spec.mirror.retention` is set, so the place belongs to this resource alone. */
  readonly isExclusive: boolean;
}

export interface CopyOrder {
  readonly place: MirrorPlace;
  readonly compression: WantedMirror['compression'];
  /** `<yyyymmdd>-<hhmmss>` of the version; the first 8 digits of the digest follow. */
  readonly versionStamp: string;
  /** A mirror that cannot be used ends the work before the download. */
  readonly isRequired: boolean;
  /** Steps as `readTransform` reads them, on the archive before it is copied. */
  readonly repair: string | undefined;
  /** 64 hex digits, of the copy's content; anything else is rejected with `DigestMismatch`. */
  readonly expectedDigest: string | undefined;
}

export interface CopiedInspection extends Inspection {
  readonly copy:
    | { readonly kind: 'copied' /** `oci://…@sha256:…` or `s3://…/bundles/….json` */; readonly ref: string }
    | { readonly kind: 'failed'; readonly failure: PublishableFailure };
}

/** A mirror that cannot be used; nothing was downloaded. */
export type UnusableMirror = {
  readonly copy: Extract<CopiedInspection['copy'], { kind: 'failed' }>;
};

export interface MirrorLook {
  /** The manifest and both of its blobs are there. */
  readonly isThere: boolean;
  /**
   * Digests of other bundles in a place that belongs to the resource alone; a bounded number. `undefined` where they could
   * not be listed.
   */
  readonly unlisted: readonly string[] | undefined;
  /** Why expired copies could not be removed or listed, such as a registry without deletes. */
  readonly retentionFailure?: PublishableFailure | undefined;
}

/** Copies of bundles. Each call works in a thread, under the limits of an inspection. */
export interface Mirrors {
  /** What the operator's flags say against a place. Sends nothing. */
  refuse(place: Omit<MirrorPlace, 'secret'>, hasSecret: boolean): PublishableFailure | undefined;
  /**
   * Downloads and inspects the archive, applies the steps, copies it, and reads the copy back. The inspection is of what was copied:
   * with steps and without a copy, there is none.
   *
   * @param maxBytes as in {@link Bundles}
   * @returns without an inspection where a mirror that is required cannot be used
   * @throws {PublishableError} about the archive
   */
  copy(
    link: Link,
    order: CopyOrder,
    signal: AbortSignal,
    maxBytes?: number,
  ): Promise<CopiedInspection | UnusableMirror>;
  /**
   * Reads a copy whole.
   *
   * @throws {PublishableError}, kind `refused` where the copy is damaged
   */
  verify(place: MirrorPlace, ref: string, digest: string, signal: AbortSignal): Promise<Inspection>;
  /**
   * Whether a copy is still there. First removes `expired` copies, where the place belongs to the resource alone and they
   * bear this project's annotation.
   *
   * @param retention `listed` digests are never reported or removed; `known` ones are reported before others
   * @throws {PublishableError}
   */
  look(
    place: MirrorPlace,
    copy: { readonly ref: string; readonly digest: string },
    retention: Record<'listed' | 'expired' | 'known', readonly string[]>,
    signal: AbortSignal,
  ): Promise<MirrorLook>;
}

/** For programs without mirrors. */
export const noMirrors: Mirrors = {
  refuse: () => ({
    code: 'HostNotAllowed',
    message: 'Mirrors are not used here. Remove spec.mirror.',
    retryAfterMs: undefined,
  }),
  copy: () => Promise.reject(new TypeError('no mirrors here')),
  verify: () => Promise.reject(new TypeError('no mirrors here')),
  look: () => Promise.reject(new TypeError('no mirrors here')),
};

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
  | { readonly kind: 'planned'; readonly keys: readonly KeyName[] }
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
  connect(address: ExportApiAddress, key: string): ExportApi;
}

export interface Events {
  /** Never throws and never waits. */
  record(object: StaticExportObject, note: EventNote): void;
}

/** Notifications to the webhooks of `spec.notify`. */
export interface Notices {
  /** Never throws and never waits. */
  send(object: StaticExportObject, notices: readonly Notice[]): void;
}

/** For programs that send none. */
export const noNotices: Notices = { send: () => {} };
