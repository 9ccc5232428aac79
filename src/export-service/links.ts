// Presigned links to archives: an HMAC over method, path and expiry, as object stores have them. Pure: secret and time
// are parameters. Invariant: exactly one request target is valid per (job, expiry). A changed, added, moved or
// re-encoded byte anywhere in it is a refusal, as is any method but GET.

import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedLink {
  /** Path and query below the public URL. */
  readonly target: string;
  /** Epoch ms, a whole second. */
  readonly expiresAt: number;
}

export type ServedLinkVerdict =
  | { readonly kind: 'valid'; readonly jobId: string }
  | { readonly kind: 'expired' }
  | { readonly kind: 'refused' };

const archiveName = 'bundle.tar.gz';
const shape =
  /^\/bundles\/([A-Za-z0-9_-]{1,64})\/bundle\.tar\.gz\?expires=([1-9]\d{0,11})&signature=([0-9a-f]{64})$/;

export const archivePath = (jobId: string): string => `/bundles/${jobId}/${archiveName}`;

/** The first whole second at which a link issued at `now` has expired. */
export function expiryOf(now: number, lifetimeMs: number): number {
  return (Math.floor(now / 1000) + Math.max(1, Math.ceil(lifetimeMs / 1000))) * 1000;
}

/** @param expiresAt epoch ms; whole seconds count */
export function signLink(secret: Uint8Array, jobId: string, expiresAt: number): SignedLink {
  const seconds = Math.floor(expiresAt / 1000);
  const path = archivePath(jobId);
  const signature = signatureOf(secret, 'GET', path, seconds).toString('hex');
  return { target: `${path}?expires=${seconds}&signature=${signature}`, expiresAt: seconds * 1000 };
}

/** @param target path and query exactly as they came, below the public URL */
export function judgeLink(
  secret: Uint8Array,
  method: string,
  target: string,
  now: number,
): ServedLinkVerdict {
  const parts = shape.exec(target);
  const jobId = parts?.[1];
  const seconds = Number(parts?.[2]);
  if (jobId === undefined) return { kind: 'refused' };
  const expected = signatureOf(secret, method, archivePath(jobId), seconds);
  if (!timingSafeEqual(expected, Buffer.from(parts?.[3] ?? '', 'hex'))) return { kind: 'refused' };
  return now >= seconds * 1000 ? { kind: 'expired' } : { kind: 'valid', jobId };
}

function signatureOf(secret: Uint8Array, method: string, path: string, seconds: number): Buffer {
  return createHmac('sha256', secret).update(`${method}\n${path}\n${seconds}`).digest();
}
