// A bucket whose faults are those of a mirror: one place where codes are mapped, so that all code over it throws
// codes of a mirror. Refuses to change the errors of a source of bytes, which belong to the caller.

import type { Bucket, ListedObject } from '#mirror/s3/bucket.ts';
import type { BucketFaultCode } from '#mirror/s3/bucket-fault.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { MirrorErrorCode } from './mirror-error.ts';

const codes: Readonly<Record<BucketFaultCode, MirrorErrorCode>> = {
  InvalidAddress: 'InvalidReference',
  InvalidCredentials: 'InvalidCredentials',
  AddressNotAllowed: 'AddressNotAllowed',
  CertificateNotTrusted: 'CertificateNotTrusted',
  Denied: 'Denied',
  QuotaExceeded: 'QuotaExceeded',
  Protected: 'Protected',
  Refused: 'Refused',
  BucketMissing: 'RepositoryMissing',
  WrongRegion: 'WrongRegion',
  ClockSkewed: 'ClockSkewed',
  Unreachable: 'Unreachable',
  NotABucket: 'NotARegistry',
  ContentRefused: 'BlobDamaged',
};
const codeOf = new Map<string, MirrorErrorCode>(Object.entries(codes));

/** @returns an error of another source as it is, such as of the bytes that were to be written */
export function mirrorErrorOf(error: unknown): unknown {
  const code = error instanceof PublishableError ? codeOf.get(error.code) : undefined;
  if (!(error instanceof PublishableError) || code === undefined || code === error.code) return error;
  const { message, kind, retryAfterMs } = error;
  return new PublishableError(code, message, { kind, retryAfterMs, cause: error });
}

export function mirrorBucket(bucket: Bucket): Bucket {
  const mapped = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      throw mirrorErrorOf(error);
    }
  };
  return {
    name: bucket.name,
    head: (key, signal) => mapped(bucket.head(key, signal)),
    get: async (key, signal) => {
      const body = await mapped(bucket.get(key, signal));
      return body === undefined ? undefined : mappedItems(body);
    },
    put: (object, signal) => mapped(bucket.put(object, signal)),
    list: (prefix, signal): AsyncIterable<ListedObject> => mappedItems(bucket.list(prefix, signal)),
    delete: (key, signal) => mapped(bucket.delete(key, signal)),
    close: () => bucket.close(),
  };
}

async function* mappedItems<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw mirrorErrorOf(error);
  }
}
