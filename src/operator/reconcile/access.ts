// Decides whether the export API may be called with the current key. A key goes only to an allowed host. After a
// 401 the key is retried when its Secret changes, and by project once a day; after a 403 every 15 minutes. A new request allows one more
// call.

import { readInstant } from '#platform/wire/instant.ts';
import { forbiddenRetryMs } from './failure-policy.ts';
import { clockToleranceMs } from './link-timing.ts';
import { type Observation, pendingRequest } from './observation.ts';
import type { Access } from './state.ts';

/** A Secret is read by name, and no watch reports its change. */
export const recheckMs = 60_000;

/** By project, 401 also says that the plan has no access or the project no export, and both may change. */
const projectRefusalMs = 24 * 3_600_000;

const keyReasons = {
  missing: 'KeyMissing',
  unreadable: 'KeyUnreadable',
  empty: 'KeyEmpty',
  invalid: 'KeyInvalid',
} as const;

export function classifyAccess(observation: Observation): Access {
  const { wanted, key, isHostAllowed, now } = observation;
  const recheckAt = now + recheckMs;
  if (wanted.baseUrl === undefined) return { kind: 'closed', reason: 'BaseUrlMissing', recheckAt };
  if (!isHostAllowed) return { kind: 'closed', reason: 'HostNotAllowed', recheckAt };
  if (key.kind !== 'present') return { kind: 'closed', reason: keyReasons[key.kind], recheckAt };
  const refused = refusalOf(observation, key.secretVersion);
  if (refused === undefined) return { kind: 'open' };
  const isOld = refused.at + projectRefusalMs <= now || refused.at > now + clockToleranceMs;
  if (refused.reason === 'Unauthorized')
    return wanted.project !== undefined && isOld
      ? { kind: 'open' }
      : { kind: 'closed', reason: 'KeyRefused', recheckAt };
  const retryAt = refused.at + forbiddenRetryMs;
  return retryAt > now && refused.at <= now + clockToleranceMs
    ? { kind: 'closed', reason: 'KeyForbidden', recheckAt: Math.min(recheckAt, retryAt) }
    : { kind: 'open' };
}

/** The refusal of exactly this key, by this resource or another that shares it. A new request ignores it once. */
function refusalOf(
  observation: Observation,
  secretVersion: string,
): { readonly reason: 'Unauthorized' | 'Forbidden'; readonly at: number } | undefined {
  const { status, rateLimit } = observation;
  const request = pendingRequest(observation);
  const { refusedKey } = status;
  const own =
    refusedKey?.secretVersion === secretVersion
      ? { reason: refusedKey.reason, at: readInstant(refusedKey.refusalTime) ?? 0 }
      : undefined;
  // This resource's own refusal stores the request that caused it. Any other request has not been sent yet.
  if (request !== undefined && (own === undefined || refusedKey?.request !== request)) return undefined;
  const shared = rateLimit.refused?.secretVersion === secretVersion ? rateLimit.refused : undefined;
  return own === undefined || (shared !== undefined && shared.at > own.at) ? shared : own;
}

/** When the export API's `Retry-After` for this key ends, if that is in the future. */
export function rateLimitTime({
  rateLimit,
  now,
}: Pick<Observation, 'rateLimit' | 'now'>): number | undefined {
  if (rateLimit.closedUntil === undefined || (rateLimit.closedAt ?? 0) > now + clockToleranceMs)
    return undefined;
  return rateLimit.closedUntil > now ? rateLimit.closedUntil : undefined;
}
