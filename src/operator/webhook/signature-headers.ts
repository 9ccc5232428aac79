// The headers by which senders prove that they know the shared secret, read into claims. Pure. Refuses: repairing a
// header. What does not match its form exactly is not a claim.

import type { IncomingHttpHeaders } from 'node:http';

/** One proof in a request. A request may hold several; one that holds is enough. */
export type SignatureProof =
  /** `sha256=` and the HMAC of the body in hex: GitHub, Gitea (`X-Hub-Signature-256`) and Flux (`X-Signature`). */
  | { readonly scheme: 'github' | 'generic-hmac'; readonly digest: Uint8Array }
  /** The secret itself. */
  | { readonly scheme: 'gitlab'; readonly token: string }
  /** HMACs of id, time and body (Standard Webhooks 1.0). */
  | {
      readonly scheme: 'standard-webhooks';
      readonly id: string;
      /** Seconds since the epoch, as sent. */
      readonly timestamp: string;
      readonly digests: readonly Uint8Array[];
    };

export type Scheme = SignatureProof['scheme'];

const digestBytes = 32;
/** More signatures in one header are not read: a sender rotates two secrets, or a few. */
const mostSignatures = 10;

/** All claims of a request. */
export function readClaims(headers: IncomingHttpHeaders): readonly SignatureProof[] {
  const github = readHexDigest(textOf(headers, 'x-hub-signature-256'));
  const generic = readHexDigest(textOf(headers, 'x-signature'));
  const token = textOf(headers, 'x-gitlab-token');
  const standard = readStandard(headers);
  return [
    ...(github === undefined ? [] : [{ scheme: 'github' as const, digest: github }]),
    ...(generic === undefined ? [] : [{ scheme: 'generic-hmac' as const, digest: generic }]),
    ...(token === undefined || token === '' ? [] : [{ scheme: 'gitlab' as const, token }]),
    ...(standard === undefined ? [] : [standard]),
  ];
}

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** @returns the digest of `sha256=` and 64 hex digits */
function readHexDigest(text: string | undefined): Uint8Array | undefined {
  const hex = /^sha256=([0-9a-fA-F]{64})$/.exec(text ?? '')?.[1];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

function readStandard(headers: IncomingHttpHeaders): SignatureProof | undefined {
  const id = textOf(headers, 'webhook-id') ?? '';
  const timestamp = textOf(headers, 'webhook-timestamp') ?? '';
  // Dots separate what is signed. With a dot in the id, a recorded body could be read as a later time and a shorter body.
  if (!/^[\x21-\x2d\x2f-\x7e]{1,256}$/.test(id) || !/^[0-9]{1,12}$/.test(timestamp)) return undefined;
  const digests = readSignatures(textOf(headers, 'webhook-signature') ?? '');
  return digests.length === 0 ? undefined : { scheme: 'standard-webhooks', id, timestamp, digests };
}

/** The `v1` signatures of a header that lists signatures of several keys and versions, separated by blanks. */
function readSignatures(text: string): readonly Uint8Array[] {
  return text
    .split(' ')
    .slice(0, mostSignatures)
    .flatMap((one) => {
      const base64 = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(one)?.[1];
      const digest = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
      return digest?.length === digestBytes ? [digest] : [];
    });
}
