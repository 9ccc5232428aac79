// Why a mirror could not be read or written: one class, with a stable code, and whether the same call may succeed later.
// Refuses text of an answer: messages name the host, the repository or bucket, the HTTP status and the service's code only.

import type { PublishableError } from '#platform/wire/publishable-error.ts';

export type MirrorErrorCode =
  | 'InvalidReference' // an address or reference of a mirror is malformed
  | 'InvalidCredentials' // the Secret or file with credentials cannot be read
  | 'HostNotAllowed' // the operator's flags do not allow the host
  | 'AddressNotAllowed' // the host leads to an internal address
  | 'CertificateNotTrusted'
  | 'Denied' // credentials were refused, or lack a permission; or the service takes no writes
  | 'QuotaExceeded' // the project, the repository or the disk is full
  | 'Protected' // a rule keeps the content: an immutable tag, a retention lock
  | 'FormatRefused' // this kind of manifest or compression
  | 'Refused' // any other refusal in the protocol's own form
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

export type MirrorError = PublishableError<MirrorErrorCode>;
