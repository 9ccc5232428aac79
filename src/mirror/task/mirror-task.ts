// The tasks of the thread that works on mirrors for the loop, and its answers, as they cross. Owns shapes only. Invariant:
// what a task may use is decided before it crosses: a Secret, or the identity of the process, never both.

import type { BundleProgress, BundleSummary } from '#bundle/bundle-task.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import type { PrepareTask } from '#bundle/prepare/preparation.ts';
import type { Transform } from '#bundle/transform.ts';
import type { MirrorLocation } from '#platform/wire/mirror-location.ts';
import type { PublishableFailure } from '#platform/wire/publishable-error.ts';
import type { Compression } from '../image.ts';
import type { MirrorAccess } from '../open-carrier.ts';
import type { Owner } from './owner-record.ts';

export interface SentPlace extends Pick<MirrorLocation, 'address'> {
  readonly access: MirrorAccess;
  /** Without it, the thread never reads the identity that the pod has. */
  readonly usesIdentity: boolean;
  readonly owner: Owner;
  /** Whose copies may be deleted: the owner's record is written. */
  readonly isExclusive: boolean;
}

export interface MirrorCopyTask {
  readonly task: 'copy-to-mirror';
  readonly place: SentPlace;
  /** Without a store: its content goes to the mirror. */
  readonly prepare: PrepareTask;
  readonly transform: TransformTask | undefined;
  readonly compression: Compression;
  readonly versionStamp: string;
}

/** The content after these steps is copied, and its digest is the one that is published. */
export interface TransformTask extends Transform {
  /** Of the content after the steps, 64 hex digits; anything else is rejected with `DigestMismatch`. */
  readonly expectedDigest: string | undefined;
}

/** What a thread found in an archive, or made of it. */
export interface Inspected extends Pick<BundleSummary, 'digest' | 'pages' | 'sizeBytes' | 'notes'> {
  /** How many files each step changed, and how many pages cannot take what it adds. */
  readonly repaired?: readonly { readonly rule: string; readonly files: number; readonly without?: number }[];
}

export interface VerifyTask {
  readonly task: 'verify-copy';
  readonly place: SentPlace;
  readonly ref: string;
  readonly digest: string;
  readonly limits: BundleLimits;
  readonly workDir: string;
}

export interface LookTask {
  readonly task: 'look-at-mirror';
  readonly place: SentPlace;
  readonly ref: string;
  readonly digest: string;
  readonly listed: readonly string[];
  readonly expired: readonly string[];
  /** Unlisted digests that are remembered: reported before others, whatever the bound. */
  readonly known: readonly string[];
}

export type MirrorTask = MirrorCopyTask | VerifyTask | LookTask;

/** After an inspection that succeeded. */
export type CopyResult =
  | { readonly kind: 'copied'; readonly ref: string }
  | { readonly kind: 'failed'; readonly failure: PublishableFailure };

export interface CopyAnswer {
  readonly inspected: Inspected;
  readonly copy: CopyResult;
}

export interface LookAnswer {
  readonly isThere: boolean;
  /** `undefined` where they could not be listed. */
  readonly unlisted: readonly string[] | undefined;
  /** Why the place could not be tidied. */
  readonly retentionFailure: PublishableFailure | undefined;
}

/** How far a copy is. */
export type CopyReport =
  | BundleProgress
  /** The mirror answers, and the download begins. */
  | { readonly stage: 'inspecting' }
  /** Before a search is made. The thread waits until it is taken, so that a thread without memory ends as one of a search. */
  | { readonly stage: 'searching' }
  | { readonly stage: 'copying'; readonly inspected: Inspected };
