// What an error of the S3 library means: an answer by its status and its code of S3, a broken connection by the system's
// code. Refuses texts of an answer and errors of the library as causes, because they hold headers. Pure.

import * as z from 'zod/mini';
import { InternalAddressError } from '../runtime/http/guarded-lookup.ts';
import { describeConnectionFault } from '../wire/connection-fault.ts';
import { publishableCode } from '../wire/publishable-error.ts';
import { parseRetryAfter } from '../wire/retry-after.ts';
import { addressNotAllowed } from './bucket-address.ts';
import { BucketFault } from './bucket-fault.ts';

/** Who was asked for what. */
export interface Asked {
  readonly bucket: string;
  readonly host: string;
  /** The permission that the call needs, such as `s3:GetObject`. */
  readonly permission: string;
}

/** An answer with an error status, or one that the library could not read. */
export interface RefusedAnswer {
  readonly status: number;
  /** A code of S3 known here; `undefined` for others and for answers without a body. */
  readonly code: string | undefined;
  readonly region: string | undefined;
  readonly retryAfter: string | undefined;
  /** The library took over the service's clock, and signs the next request with it. */
  readonly isClockCorrected: boolean;
}

const libraryError = z.object({
  name: z.string(),
  Region: z.optional(z.unknown()),
  $metadata: z.object({ httpStatusCode: z.number(), clockSkewCorrected: z.optional(z.boolean()) }),
  $response: z.optional(z.object({ headers: z.record(z.string(), z.string()) })),
});

const skewCodes = new Set(['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture']);
const expiredCodes = new Set(['ExpiredToken', 'TokenRefreshRequired']);
const wrongKeyCodes = new Set(['InvalidAccessKeyId', 'InvalidToken', 'SignatureDoesNotMatch']);
const deniedCodes = new Set([
  ...expiredCodes,
  ...wrongKeyCodes,
  'AccessDenied',
  'AccountProblem',
  'AllAccessDisabled',
  'InvalidSecurity',
  'NotSignedUp',
]);
const regionCodes = new Set([
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'PermanentRedirect',
  'TemporaryRedirect',
]);
const refusedContentCodes = new Set(['BadDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch']);
const temporaryCodes = new Set(['OperationAborted', 'RequestTimeout', 'SlowDown', 'Throttling']);
const otherCodes = [
  'ConditionalRequestConflict',
  'EntityTooLarge',
  'InternalError',
  'InvalidArgument',
  'InvalidRequest',
  'MethodNotAllowed',
  'NoSuchBucket',
  'NoSuchKey',
  'NotImplemented',
  'PreconditionFailed',
  'ServiceUnavailable',
];
const knownCodes = new Set([
  ...[skewCodes, deniedCodes, regionCodes, refusedContentCodes, temporaryCodes].flatMap((codes) => [
    ...codes,
  ]),
  ...otherCodes,
]);

/** Such as eu-west-1, us-gov-west-1 and ap-southeast-3. */
const plausibleRegion = /^[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/;

/** @returns `undefined` if the service gave no answer */
export function readRefusedAnswer(error: unknown): RefusedAnswer | undefined {
  const read = libraryError.safeParse(error);
  if (!read.success) return undefined;
  const { name, $metadata, $response, Region } = read.data;
  const named = [Region, $response?.headers['x-amz-bucket-region']].find(
    (region) => typeof region === 'string' && plausibleRegion.test(region),
  );
  return {
    status: $metadata.httpStatusCode,
    code: knownCodes.has(name) ? name : undefined,
    region: typeof named === 'string' ? named : undefined,
    retryAfter: $response?.headers['retry-after'],
    isClockCorrected: $metadata.clockSkewCorrected === true,
  };
}

/** @param now epoch milliseconds */
export function answerFault(asked: Asked, answer: RefusedAnswer, now: number): BucketFault {
  const { status, code } = answer;
  const where = `Bucket ${asked.bucket} at ${asked.host}`;
  const returned = `${where} returned ${status}${code === undefined ? '' : ` (${code})`}`;
  if (code === 'NoSuchBucket') {
    return new BucketFault('BucketMissing', `${returned}: it does not exist. Create it, or check its name.`);
  }
  if (code !== undefined && skewCodes.has(code)) {
    return new BucketFault(
      'ClockSkewed',
      `${returned}: the time of the signature was refused. Set this machine's clock, such as by NTP.`,
    );
  }
  if ([301, 307, 308].includes(status) || (code !== undefined && regionCodes.has(code))) {
    const remedy =
      answer.region === undefined
        ? 'Set the region of the bucket, and check the access key.'
        : `Set the region to ${answer.region}.`;
    return new BucketFault('WrongRegion', `${returned}: the bucket is in another region. ${remedy}`);
  }
  if (status === 401 || status === 403 || (code !== undefined && deniedCodes.has(code))) {
    const remedy = deniedRemedy(code, asked.permission);
    return new BucketFault('Denied', `${returned}. ${remedy}`);
  }
  if (code !== undefined && refusedContentCodes.has(code)) {
    return new BucketFault(
      'ContentRefused',
      `${returned}: the bytes that arrived are not those announced. Retry, and check the source.`,
    );
  }
  const isTemporary = [408, 409, 429].includes(status) || (status >= 500 && status !== 501);
  if (isTemporary || (code !== undefined && temporaryCodes.has(code))) {
    const retryAfterMs = parseRetryAfter(answer.retryAfter, now);
    return new BucketFault('Unreachable', `${returned}. Retrying.`, { isTemporary: true, retryAfterMs });
  }
  return new BucketFault(
    'NotABucket',
    `${returned}, which is not an answer of S3 to this call. Check the endpoint and the bucket.`,
  );
}

function deniedRemedy(code: string | undefined, permission: string): string {
  if (code !== undefined && expiredCodes.has(code))
    return 'The session token has expired. Write new credentials.';
  if (code !== undefined && wrongKeyCodes.has(code)) return 'Check the access key and its secret.';
  return `Check the access key, and that it may do ${permission}.`;
}

/** What an error means that is not an answer. */
export function connectionFault(asked: Pick<Asked, 'bucket' | 'host'>, error: unknown): BucketFault {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof BucketFault) return at;
    if (at instanceof InternalAddressError) return addressNotAllowed(asked.host, at);
  }
  const code = publishableCode(error);
  const where = `Host ${asked.host} of bucket ${asked.bucket}`;
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') {
    return new BucketFault(
      'ContentRefused',
      `The bytes for bucket ${asked.bucket} have another length than announced. Retry, and check the source.`,
    );
  }
  const { kind, what, remedy } = describeConnectionFault(code);
  const said = `${where} ${what}. ${remedy ?? 'Add its CA certificate'}.`;
  return kind === 'unknown-ca' || kind === 'wrong-certificate'
    ? new BucketFault('CertificateNotTrusted', said)
    : new BucketFault('Unreachable', `${said} Retrying.`, { isTemporary: true });
}
