// A bucket whose faults are those of a mirror: one place where codes are mapped, so that all code over it throws
// `MirrorError`. Refuses to change the errors of a source of bytes, which belong to the caller.

import type { Bucket, ListedObject } from '../s3/bucket.ts';
import { BucketFault, type BucketFaultCode } from '../s3/bucket-fault.ts';
import { MirrorError, type MirrorErrorCode } from './mirror-error.ts';

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

/** @returns the error itself if it is not a {@link BucketFault} */
export function mirrorErrorOf(error: unknown): unknown {
  if (!(error instanceof BucketFault)) return error;
  const { bucketCode, message, isTemporary, retryAfterMs } = error;
  return new MirrorError(codes[bucketCode], message, {
    isTemporary,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: error,
  });
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
