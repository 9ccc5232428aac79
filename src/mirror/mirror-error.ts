// Why a mirror could not be read or written: one class, with a stable code, and whether the same call may succeed later.
// Refuses text of an answer: messages name the host, the repository or bucket, and the HTTP status only.

import { PublishableError } from '../wire/publishable-error.ts';

export type MirrorErrorCode =
  | 'InvalidReference' // an address or reference of a mirror is malformed
  | 'InvalidCredentials' // the Secret or file with credentials cannot be read
  | 'HostNotAllowed' // the operator's flags do not allow the host
  | 'AddressNotAllowed' // the host leads to an internal address
  | 'CertificateNotTrusted'
  | 'Denied' // 401 or 403: wrong or expired credentials, a read-only token
  | 'RepositoryMissing' // the repository or bucket does not exist and is not made by a push
  | 'WrongRegion' // the bucket is in another region
  | 'ClockSkewed' // the signature's time was refused
  | 'Unreachable' // no answer, 429 or 5xx after all attempts
  | 'NotARegistry' // answers are not those of the protocol
  | 'TagOccupied' // the tag names other content
  | 'NotABundle' // a manifest of another kind
  | 'BlobMissing'
  | 'BlobDamaged' // length or SHA-256 differ
  | 'SpoolFull' // no space for the copy while it is made
  | 'OwnedElsewhere' // the place belongs to another resource alone
  | 'WorkFailed'; // the thread ended unexpectedly, or its work folder cannot be used

export class MirrorError extends PublishableError {
  readonly mirrorCode: MirrorErrorCode;
  readonly isTemporary: boolean;
  /** From Retry-After; the caller must not call again before. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: MirrorErrorCode,
    message: string,
    options: {
      readonly isTemporary?: boolean;
      readonly retryAfterMs?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(code, message, { cause: options.cause });
    this.mirrorCode = code;
    this.isTemporary = options.isTemporary ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}
