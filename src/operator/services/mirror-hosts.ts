// Which mirrors may be called, and how. Credentials of a resource are sent only to hosts that the operator's flags allow, and
// the operator's own credentials only to its default mirror. Sends nothing. Invariant: plain HTTP needs a flag that says so.

import { mirrorErrorOf } from '#mirror/mirror-bucket.ts';
import type { MirrorError } from '#mirror/mirror-error.ts';
import { readRepository } from '#mirror/registry/repository.ts';
import { readBucketOrigin, readBucketReference } from '#mirror/s3/bucket-address.ts';
import type { MirrorPlace } from '#operator/loop/ports.ts';
import { fillAddress } from '#operator/staticexport/wanted-mirror.ts';
import { isRefusedHost } from '#platform/http/guarded-lookup.ts';
import { readHttpOrigin, readOriginEntry, shortOriginEntry } from '#platform/wire/http-origin.ts';
import type { MirrorLocation } from '#platform/wire/mirror-location.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

/** What the flags say about mirrors. */
export interface MirrorHosts {
  /** `HOST` or `HOST:PORT` for https, `http://HOST:PORT` for clear text. For mirrors of resources. */
  readonly allowedHosts: readonly string[];
  readonly allowPrivateHosts: boolean;
  readonly defaultMirror: OwnMirror | undefined;
}

/** The mirror of the operator's owner, who chose its host. */
export interface OwnMirror extends MirrorLocation {
  /** A folder with the keys of a Secret. `undefined`: the identity of the pod, or a registry without credentials. */
  readonly credentialsFolder: string | undefined;
  readonly isHttpAllowed: boolean;
}

export interface MirrorReach {
  readonly allowPrivateAddresses: boolean;
  readonly isHttpAllowed: boolean;
}

type Place = Omit<MirrorPlace, 'secret'>;

export const isBucketAddress = (address: string): boolean => address.startsWith('s3://');

/**
 * @param hasSecret whether the resource's own credentials would be sent
 * @throws {MirrorError} `HostNotAllowed`, `AddressNotAllowed`, `InvalidReference`
 */
export function reachOf(place: Place, hasSecret: boolean, hosts: MirrorHosts): MirrorReach {
  const origins = originsOf(place);
  if (!hasSecret) {
    const { defaultMirror } = hosts;
    if (defaultMirror === undefined || !isDefault(place, defaultMirror)) throw needsSecret(place);
    return { allowPrivateAddresses: true, isHttpAllowed: defaultMirror.isHttpAllowed };
  }
  const allowed = hosts.allowedHosts.map(readOriginEntry);
  const origin = origins.find((one) => allowed.includes(one));
  if (origin === undefined) throw hostNotAllowed(origins, hosts.allowedHosts);
  if (isRefusedHost(new URL(origin).hostname, hosts.allowPrivateHosts)) throw privateHost(origin);
  return { allowPrivateAddresses: hosts.allowPrivateHosts, isHttpAllowed: origin.startsWith('http:') };
}

/** The origins at which the place may be: of a registry https first. @throws {MirrorError} `InvalidReference` */
function originsOf({ address, endpoint, region }: MirrorLocation): readonly string[] {
  const invalid = new PublishableError(
    'InvalidReference',
    'The address of the mirror is not valid. Write oci://HOST/REPOSITORY or s3://BUCKET/PREFIX.',
  );
  if (!isBucketAddress(address)) {
    const { host } = readRepository(address);
    return ['https', 'http'].map((scheme) => readHttpOrigin(`${scheme}://${host}`) ?? '');
  }
  const reference = readBucketReference(address);
  if (reference === undefined) throw invalid;
  const { bucket } = reference;
  try {
    return [readBucketOrigin({ bucket, region, endpoint, isHttpAllowed: true, allowPrivateAddresses: true })];
  } catch (error) {
    throw mirrorErrorOf(error);
  }
}

function isDefault({ address, endpoint, region, pathStyle, owner }: Place, own: OwnMirror): boolean {
  return (
    address === fillAddress(own.address, owner) &&
    endpoint === own.endpoint &&
    region === own.region &&
    pathStyle === own.pathStyle
  );
}

const example = { namespace: 'namespace', name: 'name' };

/** Whether each resource gets a place of its own: both placeholders are whole parts of the path. */
export function isPlaceTemplate(address: string): boolean {
  const [, host = '', ...path] = /^(?:oci|s3):\/\//.test(address) ? address.split(/(?<=:)\/\/|\//) : [];
  const count = (placeholder: string): number => path.filter((part) => part === placeholder).length;
  const others = path.filter((part) => part !== '{namespace}' && part !== '{name}');
  return (
    count('{namespace}') === 1 &&
    count('{name}') === 1 &&
    [host, ...others].every((part) => part !== '' && !/[{}]/.test(part))
  );
}

/** @returns what is wrong with the place itself */
export function problemOfPlace(own: MirrorLocation): string | undefined {
  try {
    originsOf({ ...own, address: fillAddress(own.address, example) });
    return undefined;
  } catch (error) {
    if (error instanceof PublishableError) return error.message;
    throw error;
  }
}

const needsSecret = ({ address }: Place): MirrorError =>
  new PublishableError(
    'HostNotAllowed',
    `${address} is not the --default-mirror of the operator. Name a Secret with credentials in spec.mirror.`,
  );

function hostNotAllowed(origins: readonly string[], entries: readonly string[]): MirrorError {
  const [origin = ''] = origins;
  const entry = shortOriginEntry(origin);
  const flag = '--allowed-mirror-hosts (allowedMirrorHosts of the chart)';
  const remedy = origin.startsWith('http:')
    ? `Use https in spec.mirror.s3.endpoint, or add ${entry} to ${flag}. Bundles are then sent in clear text.`
    : `Add ${entry} to ${flag}.`;
  const shown = entries.slice(0, 10).join(', ');
  const more = entries.length > 10 ? `, and ${entries.length - 10} more` : '';
  const allowed = shown === '' ? 'none' : `${shown}${more}`;
  const { host } = new URL(origin);
  return new PublishableError(
    'HostNotAllowed',
    `Mirror host ${host} is not allowed. ${remedy} Allowed: ${allowed}.`,
  );
}

const privateHost = (origin: string): MirrorError =>
  new PublishableError(
    'AddressNotAllowed',
    `Mirror host ${new URL(origin).host} is a loopback, link-local, private or cluster address. Use a public host, or set --allow-private-mirror-hosts (allowPrivateMirrorHosts of the chart). Link-local addresses are never allowed.`,
  );
