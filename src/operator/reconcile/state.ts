// The named states of a resource: access to the export API, and one union per operation. `classify` returns the
// state; `choose` returns the action for it.

import type { StalledReason } from '#operator/staticexport/reasons.ts';
import type { ExportCause, StartRecord } from '#operator/staticexport/status-schema.ts';
import type { Wanted } from '#operator/staticexport/wanted.ts';

/** Whether the export API may be called with the current key. */
export type Access =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'closed';
      readonly reason: AccessReason;
      /** When to reconcile again without an event, epoch ms. */
      readonly recheckAt: number;
    };
export type AccessReason =
  | Extract<
      StalledReason,
      | 'BaseUrlMissing'
      | 'HostNotAllowed'
      | 'KeyUnreadable'
      | 'KeyEmpty'
      | 'KeyInvalid'
      | 'KeyRefused'
      | 'KeyForbidden'
    >
  | 'KeyMissing';

/** The next version to publish, once its archive is inspected. */
export interface Subject {
  readonly jobId: string;
  readonly cause: 'job' | 'pin' | 'release';
  /** Known for a version of the history and for a promoted candidate. */
  readonly version?: string | undefined;
  readonly digest?: string | undefined;
  /** Of its copy in a mirror. */
  readonly ref?: string | undefined;
  /** The export API that made the job; `undefined`: the export API in the spec. */
  readonly baseUrl?: string | undefined;
  /** Its project; only with a base URL. */
  readonly projectId?: string | undefined;
  /** That its job was started with, `''` for the root; `undefined`: none, or not known. */
  readonly basePath?: string | undefined;
  /** Steps on its archive, before it is copied. */
  readonly repair?: string | undefined;
  /** Revision of these steps that gave the digest. */
  readonly repairRevision?: string | undefined;
  readonly pages?: number | undefined;
  readonly sizeBytes?: number | undefined;
}

export type HeldReason =
  | Extract<StalledReason, 'OutputNotOwned' | 'OutputUnreadable' | 'InvalidSchedule'>
  | 'Suspended'
  | 'Pinned';

export type ExportState =
  | { readonly kind: 'resting' }
  | { readonly kind: 'due'; readonly cause: ExportCause }
  /** Due, but in back-off. */
  | { readonly kind: 'waiting'; readonly cause: ExportCause; readonly until: number }
  /** A start record without an id: sent, not confirmed. */
  | { readonly kind: 'unconfirmed'; readonly record: StartRecord; readonly resendAt: number }
  | { readonly kind: 'running'; readonly jobId: string; readonly pollAt: number; readonly timeoutAt: number }
  /** Timed out, and no newer job exists. Still polled slowly, so that a late completion is adopted. */
  | { readonly kind: 'late'; readonly jobId: string; readonly pollAt: number; readonly next: ExportState }
  /** To be issued, inspected and judged; `notBefore` is its back-off. */
  | { readonly kind: 'complete'; readonly subject: Subject; readonly notBefore: number }
  | { readonly kind: 'held'; readonly why: HeldReason };

export type LinkState =
  | { readonly kind: 'none' }
  /** The version is published by its reference alone. */
  | { readonly kind: 'unused' }
  /** The Secret with the link is unreadable; status has its expiry. */
  | { readonly kind: 'unreadable'; readonly isExpired: boolean }
  | { readonly kind: 'fresh'; readonly refreshAt: number }
  | { readonly kind: 'due'; readonly jobId: string }
  | { readonly kind: 'expired'; readonly jobId: string }
  /** Due or expired, and in back-off. */
  | { readonly kind: 'waiting'; readonly jobId: string; readonly until: number; readonly isExpired: boolean }
  /** Its job is gone; retried at `until` in case the export API was wrong. */
  | {
      readonly kind: 'unissuable';
      readonly jobId: string;
      readonly until: number;
      readonly isExpired: boolean;
    };

/** The copy of the published version. */
export type MirrorState =
  /** No mirror, or nothing in it yet that a copy could be of. */
  | { readonly kind: 'none' }
  | { readonly kind: 'copied'; readonly lookAt: number }
  | { readonly kind: 'due'; readonly work: 'look' | 'copy' }
  | { readonly kind: 'working'; readonly work: 'look' | 'copy' }
  /** Not copied, and in back-off. */
  | { readonly kind: 'waiting'; readonly until: number }
  /** Not copied, and suspended. */
  | { readonly kind: 'held' };

/** Whether what is published satisfies the spec. */
export type Want =
  | { readonly kind: 'satisfied' }
  | { readonly kind: 'first' }
  | { readonly kind: 'inputs' }
  | { readonly kind: 'pin' }
  | {
      readonly kind: 'impossible';
      readonly reason: Extract<
        StalledReason,
        'PinnedVersionUnknown' | 'PinnedJobGone' | 'PinnedJobFailed' | 'PinnedContentChanged'
      >;
    };

export interface State {
  readonly access: Access;
  readonly export: ExportState;
  readonly link: LinkState;
  readonly want: Want;
  readonly mirror: MirrorState;
}

/** The export API that made a job. */
export interface Issuer {
  readonly baseUrl: string | undefined;
  /** `undefined`: it was asked by domain. */
  readonly projectId: string | undefined;
}

/** @param made what status knows of the job; without a base URL, the export API in the spec made it */
export function issuerOf(made: Partial<Issuer> | undefined, { baseUrl, project }: Wanted): Issuer {
  return made?.baseUrl === undefined
    ? { baseUrl, projectId: project?.id }
    : { baseUrl: made.baseUrl, projectId: made.projectId };
}

export type Action =
  | { readonly kind: 'none' }
  /** `record` is the start record to send again with the same key; `undefined` means a new start record. */
  | { readonly kind: 'start'; readonly cause: ExportCause; readonly record: StartRecord | undefined }
  | { readonly kind: 'poll'; readonly jobId: string }
  | {
      readonly kind: 'issue';
      readonly jobId: string;
      /** `mirror`: to copy the published version again. */
      readonly cause: 'refresh' | 'subject' | 'mirror';
      /** The export API that made the job. */
      readonly issuer: Issuer;
    }
  /** Starts or checks the inspection of the candidate's archive, or of its copy. Does not call the export API. */
  | { readonly kind: 'inspect'; readonly subject: Subject; readonly from: 'link' | 'mirror' }
  /** Starts a look at the published copy or copies it again, or takes the outcome. Does not call the export API. */
  | { readonly kind: 'mirror'; readonly work: 'look' | 'copy' };

export interface Plan {
  readonly state: State;
  readonly action: Action;
  /** state → action, for the log. */
  readonly because: string;
}
