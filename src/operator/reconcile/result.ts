// The outcome of an action, as codes and times only: no link, no body. Execute makes these values, and settle
// consumes them.

import type { StartRecord, Status } from '#operator/staticexport/status-schema.ts';
import type { LinkTimes } from '#platform/wire/publication.ts';
import type { PublishableFailure } from '#platform/wire/publishable-error.ts';
import type { StartDelay } from './start-budget.ts';

/** The export API's codes, and further codes for link requests. */
export type CallCode =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'Gone'
  | 'Conflict'
  | 'AnotherExportRuns'
  | 'RateLimited'
  | 'ServerError'
  | 'UnexpectedAnswer'
  | 'RequestTimeout'
  | 'NetworkError'
  | 'ExportApiNotTrusted'
  | 'Aborted'
  /** Every link issued in a row had expired at its first use. */
  | 'ExpiredOnArrival'
  /** The storage refuses a link that is valid by its dates. */
  | 'LinkRefused'
  /** The link expires too soon to inspect and publish its archive. */
  | 'LifetimeTooShort'
  /** The export API that made the job is no longer allowed to get a key. */
  | 'HostNotAllowed'
  /** The Kubernetes API server refused to write the output. */
  | 'OutputWriteFailed';

export interface CallFailure {
  readonly code: CallCode;
  readonly retryAfterMs: number | undefined;
  /** What failed, as text that is safe to publish, if the code alone does not say it. */
  readonly why?: string | undefined;
  /** The export API's own words, as an excerpt without secrets. */
  readonly said?: string | undefined;
  /** The id by which the export API finds its answer. */
  readonly requestId?: string | undefined;
}

/** What visitors would miss of an archive, such as its home page, with examples that are safe to publish. */
export interface ContentNote {
  readonly code: string;
  readonly count: number;
  readonly example: string;
  readonly paths?: readonly string[] | undefined;
}

export interface InspectedContent {
  readonly digest: string | undefined;
  readonly pages: number | undefined;
  readonly sizeBytes: number | undefined;
  /** Not kept: it decides whether the content is held. */
  readonly notes?: readonly ContentNote[] | undefined;
  /** What the steps of `spec.transform` changed; absent: the archive is as the export API made it. */
  readonly repaired?: readonly RepairedFiles[] | undefined;
  /** Of the copy that was made and read back. */
  readonly ref?: string | undefined;
}

/** How many files one step changed: a rule of a repair, or the search. */
export interface RepairedFiles {
  readonly rule: string;
  readonly files: number;
  /** Pages that cannot take what the step adds. */
  readonly without?: number | undefined;
}

export interface InspectionFailure {
  /** As in BundleError: whether another link or another attempt can help. */
  readonly kind: 'expired-link' | 'early-link' | 'refused-link' | 'transient' | 'rejected';
  readonly code: string;
  readonly message: string;
  /** Of a link that is not valid yet. */
  readonly retryAfterMs?: number | undefined;
}

export interface SentStart {
  readonly record: StartRecord;
  /** Of the resource in the last hour; absent where the export API is asked by domain. */
  readonly startTimes?: Status['startTimes'];
}

export type ActionResult =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'started'; readonly jobId: string } & SentStart)
  | ({ readonly kind: 'start-failed'; readonly failure: CallFailure } & SentStart)
  /** Not sent: the budget of the key delays it. */
  | ({ readonly kind: 'start-delayed'; readonly record: StartRecord; readonly perHour: number } & StartDelay)
  | {
      readonly kind: 'polled';
      readonly outcome: 'unfinished' | 'completed' | 'failed';
      readonly state: string;
      readonly progress: number | undefined;
      readonly pageCount: number | undefined;
      /** Of a failed job: the export API's own words, as an excerpt without secrets. */
      readonly said?: string | undefined;
    }
  | { readonly kind: 'poll-failed'; readonly failure: CallFailure }
  | {
      readonly kind: 'issued';
      readonly times: LinkTimes;
      /** The link is identical to the published link. Whatever it claims, its lifetime has not changed. */
      readonly isPublished: boolean;
    }
  | { readonly kind: 'issue-failed'; readonly failure: CallFailure }
  | { readonly kind: 'inspecting' }
  | {
      readonly kind: 'inspected';
      readonly content: InspectedContent;
      /** Of the link that was read; `undefined`: the copy in the mirror was read. */
      readonly link: LinkTimes | undefined;
      /** Why there is no copy, where the spec does not require one. */
      readonly uncopied?: PublishableFailure | undefined;
    }
  | {
      readonly kind: 'inspect-failed';
      readonly failure: InspectionFailure;
    }
  /** The mirror kept a subject from its publication: no copy was made, or the copy could not be read. */
  | { readonly kind: 'copy-failed'; readonly failure: PublishableFailure }
  | { readonly kind: 'mirror-working' }
  | {
      readonly kind: 'mirror-looked';
      readonly isThere: boolean;
      /** `undefined` where copies could not be listed. */
      readonly unlisted: readonly string[] | undefined;
      /** Why old copies could not be removed or listed. */
      readonly retentionFailure?: PublishableFailure | undefined;
    }
  | {
      readonly kind: 'mirror-copied';
      readonly ref: string;
      /** Of the link that the published version keeps. */
      readonly link: LinkTimes | undefined;
    }
  | { readonly kind: 'mirror-failed'; readonly failure: PublishableFailure };

/** Clears or stores a refusal of a key, for all resources that share the key. */
export type RateLimitChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'open' }
  | { readonly kind: 'refuse'; readonly secretVersion: string; readonly reason: 'Unauthorized' | 'Forbidden' }
  | { readonly kind: 'close'; readonly until: number };
