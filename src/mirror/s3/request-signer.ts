// Signs requests to a bucket (AWS Signature Version 4) by the library's signer. Owns the keys, which are obtained again
// shortly before they expire, and the difference to the service's clock. Refuses the library's clients: their retries cannot
// re-open a body. Invariant: what is signed is what is sent, key and query included.

import { Hash } from '@smithy/core/serde';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '#platform/runtime/clock.ts';
import type { LibraryKeys } from './library-credentials.ts';

export interface UnsignedRequest {
  readonly method: string;
  /** Scheme and host. */
  readonly origin: URL;
  /** As it is sent, percent-encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RequestSigner {
  /** @returns the headers to send. @throws {BucketFault} of the credentials */
  sign(request: UnsignedRequest): Promise<Readonly<Record<string, string>>>;
  /**
   * Takes over the service's clock.
   *
   * @param serverDate epoch milliseconds
   * @returns whether it differs from the clock that the last request was signed by
   */
  correctClock(serverDate: number | undefined): boolean;
}

type KeySource = LibraryKeys | (() => Promise<LibraryKeys>);

/** A request that is signed now may be under way for so long. */
const renewBeforeMs = 5 * 60_000;
/** `Date` has seconds, and an answer may be under way. */
const leastDifferenceMs = 60_000;

export function createRequestSigner(
  region: string,
  source: KeySource,
  clock: Pick<Clock, 'now'>,
): RequestSigner {
  const keys = keepKeys(source, clock);
  let offsetMs = 0;
  return {
    sign: async ({ method, origin, path, query, headers }) => {
      const signer = new SignatureV4({
        ...{ service: 's3', region, credentials: withToken(await keys()), sha256: Sha256 },
        // The key is encoded already, and S3 signs it once.
        ...{ uriEscapePath: false, applyChecksum: false },
      });
      const { protocol, hostname, host } = origin;
      const signed = await signer.sign(
        { method, protocol, hostname, path, query: { ...query }, headers: { ...headers, host } },
        { signingDate: new Date(clock.now() + offsetMs) },
      );
      const { host: _host, ...sent } = signed.headers;
      return sent;
    },
    correctClock: (serverDate) => {
      const before = offsetMs;
      if (serverDate !== undefined) offsetMs = serverDate - clock.now();
      return Math.abs(offsetMs - before) >= leastDifferenceMs;
    },
  };
}

/** Without the name of a token that is not there. */
const withToken = ({ accessKeyId, secretAccessKey, sessionToken }: LibraryKeys) => ({
  ...{ accessKeyId, secretAccessKey },
  ...(sessionToken !== undefined && { sessionToken }),
});

function keepKeys(source: KeySource, clock: Pick<Clock, 'now'>): () => Promise<LibraryKeys> {
  if (typeof source !== 'function') return async () => source;
  let kept: Promise<LibraryKeys> | undefined;
  return async () => {
    const keys = await kept?.catch(() => undefined);
    const { expiration } = keys ?? {};
    const isValid = expiration === undefined || expiration.getTime() - renewBeforeMs > clock.now();
    if (keys !== undefined && isValid) return keys;
    kept = source();
    return await kept;
  };
}

/** The library makes one with a secret for each HMAC. */
class Sha256 extends Hash {
  constructor(secret?: ConstructorParameters<typeof Hash>[1]) {
    super('sha256', secret);
  }
}
