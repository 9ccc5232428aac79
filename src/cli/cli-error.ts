// Why a command failed: a stable code, a message, the outcome with its exit code, and what to do next. Also maps any other
// failure to an outcome. Refuses: reading a message; its kind decides, and its code where a person must act. Anything unknown
// is a bug of this program.

import { ExportApiError, type ExportApiErrorCode } from '#export-api/answers.ts';
import type { MirrorErrorCode } from '#mirror/mirror-error.ts';
import type { BucketFaultCode } from '#mirror/s3/bucket-fault.ts';
import type { StalledReason } from '#operator/staticexport/reasons.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import type { Outcome } from './exit-code.ts';

/** What was reached before a failure, where that is known. */
export interface Reached {
  /** The version that the export would publish. */
  readonly version?: string | undefined;
  /** The destinations that hold it, as the user wrote them: `--to`. */
  readonly written?: readonly string[] | undefined;
  /** Of the last attempt before a deadline. */
  readonly lastFailure?: { readonly code: string; readonly message: string } | undefined;
}

export interface CliErrorOptions extends Reached {
  readonly cause?: unknown;
  readonly next?: readonly string[];
  readonly known?: Readonly<Record<string, unknown>>;
}

/** A class of its own, because it carries the outcome and the steps of a command. */
export class CliError extends PublishableError {
  readonly outcome: Outcome;
  /** Commands or steps that help, a line each. */
  readonly next: readonly string[];
  readonly reached: Reached;
  /** Fields of the result that were known before the failure. A pipeline gets them as outputs. */
  readonly known: Readonly<Record<string, unknown>>;

  constructor(outcome: Outcome, code: string, message: string, options: CliErrorOptions = {}) {
    super(code, message, options);
    this.outcome = outcome;
    this.next = options.next ?? [];
    const { version, written, lastFailure } = options;
    this.reached = { version, written, ...(lastFailure !== undefined && { lastFailure }) };
    this.known = options.known ?? {};
  }

  /** The same failure, with what the whole command reached. */
  reaching(whole: Pick<Reached, 'version' | 'written'>): CliError {
    const { outcome, code, message, cause, next, known, reached } = this;
    return new CliError(outcome, code, message, { cause, next, known, ...reached, ...whole });
  }

  /** The same failure, with what was known before it. */
  knowing(known: Readonly<Record<string, unknown>>): CliError {
    const { outcome, code, message, cause, next, reached } = this;
    return new CliError(outcome, code, message, { cause, next, known, ...reached });
  }
}

/** A failure as it is printed, with `-o json` as a document. */
export interface CommandFailure extends Reached {
  readonly outcome: Outcome;
  readonly code: string;
  readonly message: string;
  /** True if the same command may succeed later, without a change. */
  readonly retryable: boolean;
  readonly next: readonly string[];
  /** As in `CliError`. */
  readonly known: Readonly<Record<string, unknown>>;
}

/** Codes of a destination that did not take what was to be written: `conversations/sinks` and its state. */
type DestinationCode =
  | 'BudgetFull'
  | 'DestinationBusy'
  | 'DestinationFull'
  | 'PartChanged'
  | 'StateFull'
  | 'WebhookRefused';

/** What is not temporary, and no input that is refused. Other codes are of a wrong flag, file or address. */
const outcomes: Readonly<Partial<Record<string, Outcome>>> = {
  BadRequest: 'exportFailed',
  NotFound: 'exportFailed',
  Gone: 'exportFailed',
  Unauthorized: 'key',
  Forbidden: 'key',
  ExportApiNotTrusted: 'usage',
  // Another link may be allowed.
  LinkRefused: 'temporary',
  Denied: 'notWritten',
  QuotaExceeded: 'notWritten',
  Protected: 'notWritten',
  FormatRefused: 'notWritten',
  Refused: 'notWritten',
  RepositoryMissing: 'notWritten',
  BucketMissing: 'notWritten',
  WrongRegion: 'notWritten',
  ClockSkewed: 'notWritten',
  Unreachable: 'temporary',
  NotARegistry: 'notWritten',
  NotABucket: 'notWritten',
  TagOccupied: 'notWritten',
  NotABundle: 'notWritten',
  BlobMissing: 'notWritten',
  BlobDamaged: 'notWritten',
  ContentRefused: 'notWritten',
  SpoolFull: 'temporary',
  WorkFailed: 'temporary',
  InvalidReference: 'usage',
  InvalidAddress: 'usage',
  InvalidCredentials: 'usage',
  HostNotAllowed: 'usage',
  AddressNotAllowed: 'usage',
  CertificateNotTrusted: 'usage',
  OwnedElsewhere: 'usage',
  BudgetFull: 'notWritten',
  DestinationBusy: 'notWritten',
  DestinationFull: 'notWritten',
  PartChanged: 'notWritten',
  StateFull: 'notWritten',
  WebhookRefused: 'notWritten',
} satisfies Record<MirrorErrorCode | BucketFaultCode | DestinationCode, Outcome> &
  Partial<Record<ExportApiErrorCode | 'LinkRefused', Outcome>>;

const retryableOutcomes: ReadonlySet<Outcome> = new Set([
  'temporary',
  'deadline',
  'interrupted',
  'terminated',
]);

/** @param error whatever a command threw */
export function failureOf(error: unknown): CommandFailure {
  const outcome = outcomeOf(error);
  return {
    outcome,
    code: codeOf(error),
    message: publishableMessage(error),
    retryable: retryableOutcomes.has(outcome),
    next: nextOf(error),
    known: error instanceof CliError ? error.known : {},
    ...(error instanceof CliError && error.reached),
  };
}

/** A refused key has one code in every command, also where a condition reports it. */
const keyCodes: Readonly<Partial<Record<ExportApiErrorCode, StalledReason>>> = {
  Unauthorized: 'KeyRefused',
  Forbidden: 'KeyForbidden',
};

function codeOf(error: unknown): string {
  return (error instanceof ExportApiError ? keyCodes[error.code] : undefined) ?? publishableCode(error);
}

function nextOf(error: unknown): readonly string[] {
  if (error instanceof CliError) return error.next;
  if (error instanceof ClusterError && error.code === 'Forbidden')
    return ['static-export doctor  # names the permissions that are missing'];
  return error instanceof PublishableError && error.remedy !== undefined ? [error.remedy] : [];
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof CliError) return error.outcome;
  if (!(error instanceof PublishableError)) return 'bug';
  if (error.isTemporary) return 'temporary';
  if (error instanceof ClusterError) return 'cluster';
  return error.kind === 'refused' ? 'archiveRejected' : (outcomes[error.code] ?? 'usage');
}
