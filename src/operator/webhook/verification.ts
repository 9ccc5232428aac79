// Whether a request proves that its sender knows the shared secret. Pure. Invariant: the work depends on the request alone.
// It is the same with a wrong secret and without any, and every comparison takes constant time.

import { isUtf8 } from 'node:buffer';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Scheme, SignatureProof } from './signature-headers.ts';

/** How far the time of a Standard Webhooks request may be from this clock. */
export const windowMs = 5 * 60_000;
const standardPrefix = 'whsec_';

/** A shared secret in the forms in which schemes use it. */
export interface HookSecret {
  readonly text: string;
  /** The key of Standard Webhooks: base64 behind `whsec_`. Another form has none. */
  readonly standardKey: Uint8Array | undefined;
}

/**
 * @returns `undefined` for an empty secret, and for bytes that are not UTF-8: two such secrets could be read as one. Blanks
 *   and line ends around it are not part of it
 */
export function readHookSecret(bytes: Uint8Array | undefined): HookSecret | undefined {
  const text = bytes === undefined || !isUtf8(bytes) ? '' : new TextDecoder().decode(bytes).trim();
  return text === '' ? undefined : { text, standardKey: readStandardKey(text) };
}

function readStandardKey(text: string): Uint8Array | undefined {
  const base64 = text.startsWith(standardPrefix) ? text.slice(standardPrefix.length) : '';
  return /^[A-Za-z0-9+/]{4,}={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : undefined;
}

/**
 * @param secret `undefined` if there is none: no claim holds, after the same work
 * @param decoy replaces a missing secret in the work
 * @returns the scheme of the first claim that holds
 */
export function verify(
  claims: readonly SignatureProof[],
  body: Uint8Array,
  secret: HookSecret | undefined,
  decoy: Required<HookSecret>,
  now: number,
): Scheme | undefined {
  const used = secret ?? decoy;
  const held = claims.filter((claim) => holds(claim, body, used, decoy, now));
  return secret === undefined ? undefined : held[0]?.scheme;
}

function holds(
  claim: SignatureProof,
  body: Uint8Array,
  secret: HookSecret,
  decoy: HookSecret,
  now: number,
): boolean {
  switch (claim.scheme) {
    case 'github':
    case 'generic-hmac':
      return isEqual(hmac(secret.text, body), claim.digest);
    case 'gitlab':
      return isEqual(Buffer.from(secret.text), Buffer.from(claim.token, 'latin1'));
    case 'standard-webhooks': {
      const { id, timestamp, digests } = claim;
      const key = secret.standardKey ?? decoy.standardKey ?? '';
      const expected = hmac(key, Buffer.from(`${id}.${timestamp}.`), body);
      const matches = digests.filter((digest) => isEqual(expected, digest)).length;
      return matches > 0 && secret.standardKey !== undefined && isCurrent(timestamp, now);
    }
    default:
      return claim satisfies never;
  }
}

function isCurrent(timestamp: string, now: number): boolean {
  return Math.abs(Number(timestamp) * 1000 - now) <= windowMs;
}

function hmac(key: string | Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const made = createHmac('sha256', key);
  for (const part of parts) made.update(part);
  return made.digest();
}

/** Of any lengths: hashes have one length, and reveal nothing about where two texts differ. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return timingSafeEqual(hash(one), hash(other));
}

function hash(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}
