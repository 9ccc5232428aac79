// Decides from a storage's answer whether a link is valid, expired, not valid yet, refused, or none of these. Pure over
// status, start of the body, the link's own dates and the storage's clock. The body is read only for known codes and
// phrases and is never repeated anywhere. Invariant: a link that its dates call valid is never called expired, unless the
// storage says so.

import { formatInstant } from '#platform/wire/instant.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export type LinkVerdict =
  | { readonly state: 'valid' | 'expired' | 'unknown' }
  /** The same link is valid after this wait. */
  | { readonly state: 'early'; readonly validFrom: number | undefined; readonly waitMs: number }
  /** Refused although its dates, if any, say that it is valid. */
  | { readonly state: 'refused' };

/** Enough for any storage's error document. */
export const maxJudgedBytes = 8192;

export interface JudgedAnswer {
  /** HTTP status of an answer that is not a redirect. */
  readonly status: number;
  /** At most {@link maxJudgedBytes} of it, any encoding. */
  readonly bodyStart: string;
  /** The storage's clock (its `Date`), or this machine's where it says none; epoch ms. */
  readonly clock: number;
  /** What the link states of itself, or its issuer of it. */
  readonly validFrom?: number | undefined;
  readonly expiresAt?: number | undefined;
}

/** 401 and 403: the signature or the policy refuses. 404 and 410: the archive is not there. */
const refusedStatuses: readonly number[] = [401, 403, 404, 410];

/** How storages say it when they answer 400 or another status (S3, GCS, Azure, CloudFront, R2, MinIO). */
const expiredWords =
  /\b(ExpiredToken|TokenExpired|RequestExpired)\b|\b(token|request|signature|link|url)\s+(has\s+|is\s+)?expired\b/i;
const earlyWords = /\b(request|signature|token|link|url)\s+(is\s+)?not\s+(yet\s+valid|valid\s+yet)\b/i;

/** Codes of error documents that name the cause, with what to check. */
const refusalAdvice: ReadonlyMap<string, string> = new Map([
  ['SignatureDoesNotMatch', 'Check the key that signs links, and that no proxy changes the request'],
  ['InvalidAccessKeyId', 'Check that the access key that signs links still exists'],
  ['AuthenticationFailed', 'Check the key that signs links, and the clocks'],
  ['AuthorizationFailure', "Check the storage's firewall and IP allow-list"],
  ['AuthorizationSourceIPMismatch', "Check the storage's IP allow-list"],
  ['AuthorizationPermissionMismatch', 'Check the permissions of the key that signs links'],
  ['RequestTimeTooSkewed', 'Check the clocks of the storage and of the service that signs links'],
  ['NoSuchBucket', 'Check that the bucket still exists'],
  ['NoSuchKey', 'Check that no lifecycle rule removes the archive'],
  ['BlobNotFound', 'Check that no lifecycle rule removes the archive'],
  ['ContainerNotFound', 'Check that the container still exists'],
  ['ResourceNotFound', 'Check that the archive still exists'],
  ['PublicAccessNotPermitted', "Check the storage's access policy"],
  ['AllAccessDisabled', 'Ask the owner of the bucket to enable it'],
  ['AccountIsDisabled', 'Ask the owner of the storage account to enable it'],
  ['UserProjectMissing', 'Ask the owner of the bucket to turn off requester pays'],
  ['InvalidObjectState', 'Restore the archive from its cold storage class'],
  ['AccessDenied', 'Check the bucket policy, its IP allow-list and the clocks'],
]);
const statusAdvice: Readonly<Record<number, string>> = {
  401: 'Check the credentials in the link, the bucket policy and its IP allow-list',
  404: 'Check that the archive still exists',
  410: 'Check that the archive still exists',
};

/** After the instant of validity, and where the storage's clock is known to the second only. */
const spareMs = 1000;

export function judgeAnswer(answer: JudgedAnswer): LinkVerdict {
  const { status, bodyStart, clock, validFrom, expiresAt } = answer;
  if (status === 200 || status === 206 || status === 416) return { state: 'valid' };
  if (status < 400 || status === 429 || status === 503) return { state: 'unknown' };
  const isGone = status === 404 || status === 410;
  const isEarly = validFrom !== undefined && validFrom > clock - spareMs;
  const early: LinkVerdict = {
    state: 'early',
    validFrom,
    waitMs: Math.max(0, (validFrom ?? clock) - clock) + spareMs,
  };
  if (earlyWords.test(bodyStart)) return early;
  if (expiredWords.test(bodyStart)) return { state: 'expired' };
  if (!refusedStatuses.includes(status) && codeOf(bodyStart) === undefined) return { state: 'unknown' };
  if (status >= 500) return { state: 'unknown' };
  if (expiresAt !== undefined && expiresAt <= clock) return { state: 'expired' };
  return isEarly && !isGone ? early : { state: 'refused' };
}

function codeOf(bodyStart: string): string | undefined {
  for (const [word] of bodyStart.matchAll(/\b[A-Z][A-Za-z]{7,40}\b/g))
    if (refusalAdvice.has(word)) return word;
  return undefined;
}

/**
 * @param host of the storage, never the link
 * @returns `undefined` for a valid link
 */
export function linkFault(host: string, answer: JudgedAnswer): PublishableError | undefined {
  const { status, bodyStart, expiresAt } = answer;
  const verdict = judgeAnswer(answer);
  const code = codeOf(bodyStart);
  const returned = `Storage ${host} returned ${status}${code === undefined ? '' : ` (${code})`}`;
  const until = expiresAt === undefined ? undefined : formatInstant(expiresAt);
  switch (verdict.state) {
    case 'valid':
      return undefined;
    case 'unknown':
      return new PublishableError('StorageUnavailable', returned, { kind: 'retry' });
    case 'expired': {
      const when = until === undefined ? '' : ` at ${until}`;
      const isSooner = expiresAt !== undefined && expiresAt > answer.clock;
      const why = isSooner ? `an expired link, before its own date ${until}` : `a link that expired${when}`;
      return new PublishableError('LinkExpired', `${returned} for ${why}. A new link is needed`, {
        kind: 'wait',
      });
    }
    case 'early': {
      const { validFrom, waitMs } = verdict;
      const from = validFrom === undefined ? '' : `, but from ${formatInstant(validFrom)}`;
      const clocks = 'Check the clocks of the storage and of the service that signs links';
      const message = `${returned} for a link that is not valid yet${from}. ${clocks}`;
      return new PublishableError('LinkNotYetValid', message, { kind: 'wait', retryAfterMs: waitMs });
    }
    case 'refused': {
      const dates = until === undefined ? 'a link that states no expiry' : `a link valid until ${until}`;
      const advice = (code === undefined ? undefined : refusalAdvice.get(code)) ?? statusAdvice[status];
      const check = advice ?? refusalAdvice.get('AccessDenied');
      return new PublishableError('LinkRefused', `${returned} for ${dates}. ${check}`);
    }
    default:
      return verdict satisfies never;
  }
}
