// The failure of a call to a bucket: a stable code, a message safe to publish, and whether the same call may succeed
// later. Refuses text of an answer: messages name the bucket, its host, the HTTP status, and the service's code.

import type { PublishableError } from '#platform/wire/publishable-error.ts';

export type BucketFaultCode =
  | 'InvalidAddress' // bucket, region or endpoint are malformed, or plain HTTP is not allowed
  | 'InvalidCredentials' // no credentials could be obtained
  | 'AddressNotAllowed' // the host leads to an internal address
  | 'CertificateNotTrusted'
  | 'Denied' // wrong or expired credentials, or a permission is missing
  | 'QuotaExceeded' // the quota or the storage is full
  | 'Protected' // an object lock keeps the object
  | 'Refused' // any other code of the service
  | 'BucketMissing'
  | 'WrongRegion'
  | 'ClockSkewed' // the signature's time was refused
  | 'Unreachable' // no answer, 409, 429 or 5xx after all attempts
  | 'NotABucket' // answers are not those of S3
  | 'ContentRefused'; // the bytes sent are not those of the announced SHA-256 or size

export type BucketFault = PublishableError<BucketFaultCode>;
