// Where a bucket is: name, region and endpoint as users write them, and the origin that requests go to. Pure. Refuses plain
// HTTP unless it is allowed, and names from which a host outside the endpoint could be built.

import { isRefusedHost } from '#platform/http/guarded-lookup.ts';
import { readHttpOrigin } from '#platform/wire/http-origin.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BucketSettings } from './bucket.ts';
import type { BucketFault } from './bucket-fault.ts';

const bucketForm = /^[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]$/;
const regionForm = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;
const prefixForm = /^[A-Za-z0-9_=+@-][A-Za-z0-9._=+@-]*(?:\/[A-Za-z0-9_=+@-][A-Za-z0-9._=+@-]*)*$/;
/** Of 1024 bytes of a key, this leaves enough for names below. */
const longestPrefix = 512;

export interface BucketReference {
  readonly bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string;
}

/**
 * @param text `s3://BUCKET/PREFIX`
 * @returns `undefined` for any other text; segments of a prefix start with no dot
 */
export function readBucketReference(text: string): BucketReference | undefined {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? [];
  const prefix = path.replace(/\/$/, '');
  if (!bucketForm.test(bucket)) return undefined;
  if (prefix !== '' && (prefix.length > longestPrefix || !prefixForm.test(prefix))) return undefined;
  return { bucket, prefix };
}

/**
 * The origin that requests for the bucket go to; with a host name for each bucket, that name is put before its host.
 * For a check against allowed hosts before anything is sent.
 *
 * @throws {BucketFault} `InvalidAddress` or `AddressNotAllowed`
 */
export function readBucketOrigin(
  settings: Pick<
    BucketSettings,
    'bucket' | 'region' | 'endpoint' | 'isHttpAllowed' | 'allowPrivateAddresses'
  >,
): string {
  const { bucket, region, endpoint, isHttpAllowed = false } = settings;
  const invalid = (why: string): BucketFault => new PublishableError('InvalidAddress', why);
  if (!bucketForm.test(bucket)) {
    throw invalid(
      'The name of the bucket is not valid. Use 3 to 63 lower-case letters, digits, dots or hyphens.',
    );
  }
  if (!regionForm.test(region)) throw invalid('The region is not valid. Write it as in eu-west-1.');
  if (endpoint === undefined) return `https://s3.${region}.${awsDomain(region)}`;
  const origin = readHttpOrigin(endpoint);
  if (origin === undefined || !/^\/?$/.test(new URL(endpoint).pathname) || /[?#]/.test(endpoint)) {
    throw invalid('The endpoint of the bucket is not valid. Write it as https://HOST or https://HOST:PORT.');
  }
  if (origin.startsWith('http:') && !isHttpAllowed) {
    throw invalid(
      'The endpoint of the bucket is plain HTTP, which is not allowed here. Use an address with https://.',
    );
  }
  const { hostname, host } = new URL(origin);
  if (isRefusedHost(hostname, settings.allowPrivateAddresses)) throw bucketAddressNotAllowed(host);
  return origin;
}

/** The partitions of AWS that everyone can reach; for others the endpoint is given. */
export const awsDomain = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';

export const bucketAddressNotAllowed = (host: string, cause?: unknown): BucketFault =>
  new PublishableError(
    'AddressNotAllowed',
    `Host ${host} of the bucket leads to a loopback, link-local, private or cluster address, which is not allowed here. Use a public host, or allow private addresses. Link-local addresses are never allowed.`,
    { cause },
  );
