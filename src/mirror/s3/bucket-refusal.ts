// What a refusal of a bucket means, by its status, its code and its words, and a broken connection by the system's code.
// Refuses to show words of an answer. Pure.

import { isOfCertificate, ownErrorIn, readConnectionFault } from '#platform/http/connection-fault.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { codeInBrackets, kindOfRefusal, type RefusalKind } from '#platform/wire/service-refusal.ts';
import { bucketAddressNotAllowed } from './bucket-address.ts';
import type { BucketRefusal } from './bucket-answer.ts';
import type { BucketFault, BucketFaultCode } from './bucket-fault.ts';

/** Who was asked for what. */
export interface BucketRequest {
  readonly bucket: string;
  readonly host: string;
  /** The permission that the call needs, such as `s3:GetObject`. */
  readonly permission: string;
}

interface Known {
  readonly codes: RegExp;
  readonly fault: BucketFaultCode;
  /** What the code means and what to do, as it follows the status. */
  readonly means: (answer: BucketRefusal, asked: BucketRequest) => string;
  /** The words may name a quota, a lock or a key as the cause. */
  readonly isGeneral?: boolean;
}

/** Codes of S3 and of services like it, by families, because each service adds its own. The first match counts. */
const known: readonly Known[] = [
  {
    codes: /^NoSuchBucket$/,
    fault: 'BucketMissing',
    means: () => ': it does not exist. Create it, or check its name.',
  },
  {
    codes: /^InvalidBucketName$/,
    fault: 'InvalidAddress',
    means: () => ': the service does not take the name of the bucket. Check the name and the endpoint.',
  },
  {
    codes: /TimeTooSkewed|^Request(?:Expired|InTheFuture)$/,
    fault: 'ClockSkewed',
    means: () => ": the time of the signature was refused. Set this machine's clock, such as by NTP.",
  },
  {
    codes:
      /^(?:AuthorizationHeaderMalformed|IllegalLocationConstraintException|PermanentRedirect|TemporaryRedirect)$/,
    fault: 'WrongRegion',
    means: ({ region }) =>
      region === undefined
        ? '. The region does not fit, or the endpoint. Set the region of the bucket, and check the access key.'
        : `: the bucket is in another region. Set the region to ${region}.`,
  },
  {
    codes: /^(?:ExpiredToken|TokenRefreshRequired)/,
    fault: 'Denied',
    means: () => '. The session token has expired. Write new credentials.',
  },
  {
    codes:
      /^(?:InvalidAccessKeyId|InvalidToken|SignatureDoesNotMatch|InvalidClientTokenId|UnrecognizedClient)/,
    fault: 'Denied',
    means: () => '. Check the access key and its secret.',
  },
  {
    codes:
      /^(?:AccessDenied|AccountProblem|AllAccessDisabled|InvalidSecurity|NotSignedUp|UnauthorizedAccess)/,
    fault: 'Denied',
    means: (_answer, { permission }) => `. Check the access key, and that it may do ${permission}.`,
    isGeneral: true,
  },
  {
    codes: /^(?:BadDigest|IncompleteBody|InvalidDigest|XAmzContent\w*Mismatch|XAmzContentChecksumMismatch)$/,
    fault: 'ContentRefused',
    means: () => ': the bytes that arrived are not those announced. Retry, and check the source.',
  },
  {
    codes:
      /^(?:OperationAborted|ConditionalRequestConflict|RequestTimeout|SlowDown|Throttl|TooManyRequests|RequestLimitExceeded|ServiceUnavailable|InternalError)/,
    fault: 'Unreachable',
    means: () => '.',
  },
];

/** What words and codes of any service mean. */
const kindFaults: Readonly<Record<RefusalKind, readonly [BucketFaultCode, string]>> = {
  Full: ['QuotaExceeded', ': its quota or storage is full. Free space, or raise the quota.'],
  Protected: [
    'Protected',
    ': a lock or retention of the service keeps the object. Wait until it ends, or change the rule.',
  ],
  ReadOnly: ['Denied', ': the service is read-only. Let it accept writes.'],
  Key: [
    'Denied',
    ": the bucket's encryption key cannot be used. Enable the key, and permit kms:GenerateDataKey and kms:Decrypt.",
  ],
};

/** @param retryAfterMs that the answer asks for */
export function refusalFault(
  asked: BucketRequest,
  answer: BucketRefusal,
  retryAfterMs: number | undefined,
): BucketFault {
  const { status, code } = answer;
  const returned = `Bucket ${asked.bucket} at ${asked.host} returned ${status}${codeInBrackets(code)}`;
  const kind = kindOfRefusal(answer, [asked.bucket]);
  const exact = code === undefined ? undefined : known.find(({ codes }) => codes.test(code));
  if (kind !== undefined && (exact === undefined || exact.isGeneral === true)) {
    const [fault, means] = kindFaults[kind];
    return new PublishableError(fault, `${returned}${means}`);
  }
  const isTemporary = [408, 409, 429].includes(status) || (status >= 500 && status !== 501);
  if (exact?.fault === 'Unreachable' || (exact === undefined && isTemporary)) {
    return new PublishableError('Unreachable', `${returned}.`, { kind: 'retry', retryAfterMs });
  }
  if (exact !== undefined)
    return new PublishableError(exact.fault, `${returned}${exact.means(answer, asked)}`);
  const said = (fault: BucketFaultCode, remedy: string): BucketFault =>
    new PublishableError(fault, `${returned}${remedy}`);
  if ([301, 307, 308].includes(status)) {
    const { region } = answer;
    return region === undefined
      ? said('WrongRegion', ' without a code of S3. Check the endpoint and the region of the bucket.')
      : said('WrongRegion', `: the bucket is in another region. Set the region to ${region}.`);
  }
  if (code !== undefined) {
    return said('Refused', ` to ${asked.permission}. The documentation of the service explains this code.`);
  }
  if (status === 401 || status === 403) {
    return said('Denied', `. Check the access key, and that it may do ${asked.permission}.`);
  }
  return said(
    'NotABucket',
    ', which is not an answer of S3 to this call. Check the endpoint and the bucket.',
  );
}

/** What an error means that is not an answer. */
export function connectionFault(
  asked: Pick<BucketRequest, 'bucket' | 'host'>,
  error: unknown,
): PublishableError {
  const own = ownErrorIn(error);
  if (own !== undefined) return own;
  if (publishableCode(error) === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') {
    return new PublishableError(
      'ContentRefused',
      `The bytes for bucket ${asked.bucket} have another length than announced. Retry, and check the source.`,
    );
  }
  const fault = readConnectionFault(error);
  if (fault.kind === 'internal-address') return bucketAddressNotAllowed(asked.host, error);
  const said = `Host ${asked.host} of bucket ${asked.bucket} ${fault.what}. ${fault.remedy}.`;
  return isOfCertificate(fault)
    ? new PublishableError('CertificateNotTrusted', said)
    : new PublishableError('Unreachable', said, { kind: 'retry' });
}
