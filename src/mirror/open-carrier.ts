// Opens the carrier at an address, with the credentials that fit its kind. Each kind's client is loaded only when it is
// needed. Refuses an address of neither kind. Sends nothing.

import type { S3Credentials } from '#mirror/s3/bucket.ts';
import type { ProxySettings } from '#platform/http/proxy-settings.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { MirrorLocation } from '#platform/wire/mirror-location.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Carrier } from './carrier.ts';
import type { MirrorError } from './mirror-error.ts';
import { type MirrorSecret, readAccessKey } from './mirror-secret.ts';

/** How a mirror is reached. Plain data, which may cross to a thread of this process. */
export interface MirrorAccess extends Omit<MirrorLocation, 'address'> {
  /** `undefined`: a registry without credentials, or a bucket with the identity of the process. */
  readonly secret: MirrorSecret | undefined;
  readonly allowPrivateAddresses: boolean;
  readonly isHttpAllowed: boolean;
  readonly extraCaPem: string | undefined;
  readonly userAgent: string;
}

export interface CarrierContext {
  readonly clock: Clock;
  readonly proxy: ProxySettings;
  /** Of the process, by its environment. */
  readonly identity: S3Credentials | undefined;
}

/**
 * @param address `oci://HOST/REPOSITORY` or `s3://BUCKET/PREFIX`
 * @throws {MirrorError} `InvalidReference`, `InvalidCredentials`, `AddressNotAllowed`
 */
export async function openCarrier(
  address: string,
  access: MirrorAccess,
  context: CarrierContext,
): Promise<Carrier> {
  if (address.startsWith('oci://')) return openRepository(address, access, context);
  if (address.startsWith('s3://')) return openPrefix(address, access, context);
  throw invalid();
}

async function openRepository(
  address: string,
  access: MirrorAccess,
  { clock, proxy }: CarrierContext,
): Promise<Carrier> {
  const [{ openRegistry }, { readRepository }, { readRegistryCredentials }] = await Promise.all([
    import('./registry/registry-client.ts'),
    import('./registry/repository.ts'),
    import('./registry/registry-credentials.ts'),
  ]);
  const { secret, allowPrivateAddresses, isHttpAllowed, extraCaPem, userAgent } = access;
  const credentials = secret && readRegistryCredentials(secret.name, secret.data, readRepository(address));
  const reach = { allowPrivateAddresses, isHttpAllowed, extraCaPem, userAgent };
  return openRegistry({ repository: address, credentials, ...reach, proxy, clock });
}

async function openPrefix(
  address: string,
  access: MirrorAccess,
  { clock, proxy, identity }: CarrierContext,
): Promise<Carrier> {
  const [{ openBucket }, { readBucketReference }, { createBucketCarrier }, { mirrorErrorOf }] =
    await Promise.all([
      import('#mirror/s3/open-bucket.ts'),
      import('#mirror/s3/bucket-address.ts'),
      import('./bucket-carrier.ts'),
      import('./mirror-bucket.ts'),
    ]);
  const reference = readBucketReference(address);
  if (reference === undefined) throw invalid();
  const credentials = access.secret === undefined ? identity : readAccessKey(access.secret);
  if (credentials === undefined) {
    throw new PublishableError(
      'InvalidCredentials',
      'There are no credentials for the bucket. Give a Secret, or an identity to the pod (IRSA, Pod Identity).',
    );
  }
  const { endpoint, region, pathStyle, allowPrivateAddresses, isHttpAllowed, extraCaPem } = access;
  const reach = { allowPrivateAddresses, isHttpAllowed, extraCaPem, proxy };
  const settings = { bucket: reference.bucket, region, endpoint, pathStyle, credentials, ...reach };
  const bucket = await openBucket(settings, clock).catch((error: unknown) => {
    throw mirrorErrorOf(error);
  });
  return createBucketCarrier({ bucket, prefix: reference.prefix, clock });
}

const invalid = (): MirrorError =>
  new PublishableError(
    'InvalidReference',
    'The address of the mirror is not valid. Write oci://HOST/REPOSITORY or s3://BUCKET/PREFIX.',
  );
