// Why a command failed: a stable code, a message, the outcome with its exit code, and what to do next. Also maps the
// errors of the export API, of archives and of the Kubernetes API server to an outcome. Refuses: reading a message; only
// classes and codes decide. Anything unknown is a bug of this program.

import { BundleError, type BundleErrorKind } from '../bundle/bundle-error.ts';
import { ExportApiError, type ExportApiErrorCode } from '../export-api/answers.ts';
import { KitError } from '../mirror/kit/kit-error.ts';
import { MirrorError, type MirrorErrorCode } from '../mirror/mirror-error.ts';
import { BucketFault, type BucketFaultCode } from '../s3/bucket-fault.ts';
import { ClusterError, type ClusterErrorCode } from '../wire/cluster-error.ts';
import { PublishableError, publishableCode, publishableMessage } from '../wire/publishable-error.ts';
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
export interface Failure extends Reached {
  readonly outcome: Outcome;
  readonly code: string;
  readonly message: string;
  /** True if the same command may succeed later, without a change. */
  readonly retryable: boolean;
  readonly next: readonly string[];
  /** As in `CliError`. */
  readonly known: Readonly<Record<string, unknown>>;
}

const exportApiOutcomes: Readonly<Record<ExportApiErrorCode, Outcome>> = {
  BadRequest: 'exportFailed',
  Unauthorized: 'key',
  Forbidden: 'key',
  NotFound: 'exportFailed',
  Gone: 'exportFailed',
  Conflict: 'temporary',
  RateLimited: 'temporary',
  ServerError: 'temporary',
  UnexpectedAnswer: 'temporary',
  RequestTimeout: 'temporary',
  NetworkError: 'temporary',
  Aborted: 'temporary',
};

const bundleOutcomes: Readonly<Record<BundleErrorKind, Outcome>> = {
  'expired-link': 'temporary',
  'early-link': 'temporary',
  'refused-link': 'temporary',
  transient: 'temporary',
  rejected: 'archiveRejected',
};

/** Of a bucket that holds no mirror; unless the same call may succeed later. */
const bucketOutcomes: Readonly<Record<BucketFaultCode, Outcome>> = {
  InvalidAddress: 'usage',
  InvalidCredentials: 'usage',
  AddressNotAllowed: 'usage',
  CertificateNotTrusted: 'usage',
  Denied: 'notWritten',
  QuotaExceeded: 'notWritten',
  Protected: 'notWritten',
  Refused: 'notWritten',
  BucketMissing: 'notWritten',
  WrongRegion: 'notWritten',
  ClockSkewed: 'notWritten',
  Unreachable: 'temporary',
  NotABucket: 'notWritten',
  ContentRefused: 'notWritten',
};

/** Of a registry or a bucket with a mirror; unless the same call may succeed later. */
const mirrorOutcomes: Readonly<Record<MirrorErrorCode, Outcome>> = {
  InvalidReference: 'usage',
  InvalidCredentials: 'usage',
  HostNotAllowed: 'usage',
  AddressNotAllowed: 'usage',
  CertificateNotTrusted: 'usage',
  Denied: 'notWritten',
  QuotaExceeded: 'notWritten',
  Protected: 'notWritten',
  FormatRefused: 'notWritten',
  Refused: 'notWritten',
  RepositoryMissing: 'notWritten',
  WrongRegion: 'notWritten',
  ClockSkewed: 'notWritten',
  Unreachable: 'temporary',
  NotARegistry: 'notWritten',
  TagOccupied: 'notWritten',
  NotABundle: 'notWritten',
  BlobMissing: 'notWritten',
  BlobDamaged: 'notWritten',
  SpoolFull: 'temporary',
  OwnedElsewhere: 'usage',
  WorkFailed: 'temporary',
};

/** Of the Kubernetes API server; any other code is a refusal. */
const temporaryClusterCodes: ReadonlySet<ClusterErrorCode> = new Set([
  'Unavailable',
  'TooManyRequests',
  'Conflict',
]);

const retryableOutcomes: ReadonlySet<Outcome> = new Set([
  'temporary',
  'deadline',
  'interrupted',
  'terminated',
]);

/** @param error whatever a command threw */
export function failureOf(error: unknown): Failure {
  const outcome = outcomeOf(error);
  return {
    outcome,
    code: publishableCode(error),
    message: messageOf(error),
    retryable: retryableOutcomes.has(outcome),
    next: nextOf(error),
    known: error instanceof CliError ? error.known : {},
    ...(error instanceof CliError && error.reached),
  };
}

function messageOf(error: unknown): string {
  const message = publishableMessage(error);
  // Servers and the operator retry, and these messages say so. A command says itself whether it does.
  if (error instanceof BundleError) return message.replace(/; retrying( later)?$/, '');
  const isStorage = error instanceof MirrorError || error instanceof BucketFault;
  return isStorage ? message.replace(/ Retrying\.$/, '') : message;
}

function nextOf(error: unknown): readonly string[] {
  if (error instanceof CliError) return error.next;
  if (error instanceof KitError) return [error.remedy];
  const isForbidden = error instanceof ClusterError && error.code === 'Forbidden';
  return isForbidden ? ['static-export doctor  # names the permissions that are missing'] : [];
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof CliError) return error.outcome;
  if (error instanceof ExportApiError) return exportApiOutcomes[error.code];
  if (error instanceof BundleError) return bundleOutcomes[error.kind];
  if (error instanceof ClusterError) return temporaryClusterCodes.has(error.code) ? 'temporary' : 'cluster';
  if (error instanceof KitError) return 'archiveRejected';
  if (error instanceof BucketFault) return error.isTemporary ? 'temporary' : bucketOutcomes[error.bucketCode];
  if (error instanceof MirrorError) return error.isTemporary ? 'temporary' : mirrorOutcomes[error.mirrorCode];
  return error instanceof PublishableError ? 'usage' : 'bug';
}
