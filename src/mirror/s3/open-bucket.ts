// Opens a bucket, and loads the S3 library to do so. The only file from which the library is reached, by a dynamic import:
// a program that stores nothing in a bucket evaluates none of it, and keeps 30 MB of memory.

import type { Clock } from '#platform/runtime/clock.ts';
import type { Bucket, BucketSettings } from './bucket.ts';
import { readBucketOrigin } from './bucket-address.ts';

/**
 * Sends nothing.
 *
 * @throws {BucketFault} `InvalidAddress` or `AddressNotAllowed`
 */
export async function openBucket(settings: BucketSettings, clock: Clock): Promise<Bucket> {
  const origin = readBucketOrigin(settings);
  const { openBucketClient } = await import('./bucket-client.ts');
  return openBucketClient(settings, origin, clock);
}
