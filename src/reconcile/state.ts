// The named states of a resource: access to the API, and one union per operation. Two small questions instead of one
// large: classify says which state it is, choose says what to do in it.

import type { StalledReason } from '../staticexport/reasons.ts';
import type { ExportCause, StartRecord } from '../staticexport/status-schema.ts';

/** Whether the API may be called at all with the key at hand. */
export type Access =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'closed';
      readonly reason: AccessReason;
      /** When to look again without being told, epoch ms. */
      readonly lookAt: number;
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

/** What shall be published next, once its archive is in hand. */
export interface Subject {
  readonly jobId: string;
  readonly cause: 'job' | 'pin' | 'release';
  /** Known for a version of the history and for a released candidate. */
  readonly version: string | undefined;
  readonly digest: string | undefined;
  /** The API that made the job; `undefined`: the one that the spec names. */
  readonly baseUrl: string | undefined;
  readonly pages: number | undefined;
  readonly sizeBytes: number | undefined;
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
  /** A mark without an id: sent, not confirmed. */
  | { readonly kind: 'unconfirmed'; readonly mark: StartRecord; readonly resendAt: number }
  | { readonly kind: 'running'; readonly jobId: string; readonly pollAt: number; readonly timeoutAt: number }
  /** Timed out, nothing newer exists: still polled, slowly, so that a late completion is adopted. */
  | { readonly kind: 'late'; readonly jobId: string; readonly pollAt: number; readonly next: ExportState }
  /** To be issued, inspected and judged; `notBefore` is its back-off. */
  | { readonly kind: 'complete'; readonly subject: Subject; readonly notBefore: number }
  | { readonly kind: 'held'; readonly why: HeldReason };

export type LinkState =
  | { readonly kind: 'none' }
  /** The Secret that holds it may not be read; its end is known from status. */
  | { readonly kind: 'unreadable'; readonly isDead: boolean }
  | { readonly kind: 'fresh'; readonly refreshAt: number }
  | { readonly kind: 'due'; readonly jobId: string }
  | { readonly kind: 'dead'; readonly jobId: string; readonly why: 'expired' | 'lost' }
  /** Due or dead, and in back-off. */
  | { readonly kind: 'waiting'; readonly jobId: string; readonly until: number; readonly isDead: boolean }
  /** Its job is gone; tried again at `until` in case the API was wrong. */
  | { readonly kind: 'unissuable'; readonly jobId: string; readonly until: number; readonly isDead: boolean };

/** Whether the spec is satisfied by what is published. */
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
}

export type Action =
  | { readonly kind: 'none' }
  /** `mark` is sent again with the same key; without one a new mark is made. */
  | { readonly kind: 'start'; readonly cause: ExportCause; readonly mark: StartRecord | undefined }
  | { readonly kind: 'poll'; readonly jobId: string }
  | {
      readonly kind: 'issue';
      readonly jobId: string;
      readonly cause: 'refresh' | 'subject';
      /** Of the API that made the job. */
      readonly baseUrl: string | undefined;
    }
  /** Starts, or looks at, the reading of the candidate's archive. No call of the export API. */
  | { readonly kind: 'inspect'; readonly subject: Subject };

export interface Plan {
  readonly state: State;
  readonly action: Action;
  /** state → action, for the log. */
  readonly because: string;
}
