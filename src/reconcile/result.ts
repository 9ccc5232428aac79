// What came of an action, in the decision's own words: no link, no body, only codes and clocks. Execute makes
// them, settle consumes them.

import type { StartRecord } from '../staticexport/status-schema.ts';
import type { LinkClock } from './link-timing.ts';

/** The export API's codes, and what a link request adds to them. */
export type CallCode =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'Gone'
  | 'Conflict'
  | 'RateLimited'
  | 'ServerError'
  | 'UnexpectedAnswer'
  | 'RequestTimeout'
  | 'NetworkError'
  | 'Aborted'
  /** Every link issued in a row was dead when it was tried. */
  | 'DeadOnArrival'
  /** The link lives too short to read and publish what it leads to. */
  | 'LifetimeTooShort'
  /** The API that made the job is no longer one that a key may be sent to. */
  | 'HostNotAllowed'
  /** The cluster would not take the output. */
  | 'OutputWriteFailed';

export interface CallFailure {
  readonly code: CallCode;
  readonly retryAfterMs: number | undefined;
  /** What failed, in words safe to publish, where the code alone does not say. */
  readonly why?: string | undefined;
  /** By which the API knows its answer. */
  readonly requestId?: string | undefined;
}

export interface InspectedContent {
  readonly digest: string | undefined;
  readonly pages: number | undefined;
  readonly sizeBytes: number | undefined;
}

export type ActionResult =
  | { readonly kind: 'none' }
  | { readonly kind: 'started'; readonly mark: StartRecord; readonly jobId: string }
  | { readonly kind: 'start-failed'; readonly mark: StartRecord; readonly failure: CallFailure }
  | {
      readonly kind: 'polled';
      readonly outcome: 'unfinished' | 'completed' | 'failed';
      readonly state: string;
      readonly progress: number | undefined;
      readonly pageCount: number | undefined;
    }
  | { readonly kind: 'poll-failed'; readonly failure: CallFailure }
  | {
      readonly kind: 'issued';
      readonly clock: LinkClock;
      /** The very link that is published already: whatever it claims, it lives no longer than it did. */
      readonly isPublished: boolean;
    }
  | { readonly kind: 'issue-failed'; readonly failure: CallFailure }
  | { readonly kind: 'inspecting' }
  | { readonly kind: 'inspected'; readonly content: InspectedContent; readonly clock: LinkClock }
  | {
      readonly kind: 'inspect-failed';
      /** As in BundleError: another link, another try, or no use. */
      readonly failure: {
        readonly kind: 'dead-link' | 'transient' | 'refused';
        readonly code: string;
        readonly message: string;
      };
    };

/** What the output Secret shall hold from now on; the link itself stays with execute. */
export interface Publication {
  readonly version: string;
  readonly digest: string | undefined;
  readonly jobId: string;
  readonly pages: number | undefined;
  readonly sizeBytes: number | undefined;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Clears what is known against a key, or notes it, for everybody who shares it. */
export type GateChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'open' }
  | { readonly kind: 'refuse'; readonly secretVersion: string; readonly reason: 'Unauthorized' | 'Forbidden' }
  | { readonly kind: 'close'; readonly until: number };
