// The operator's flags of mirrors: which hosts resources may name, and the operator's own mirror. Owns their texts, and the
// rules that join them. Sends nothing.

import {
  isBucketAddress,
  isPlaceTemplate,
  type MirrorHosts,
  type OwnMirror,
  problemOfPlace,
} from '#operator/services/mirror-hosts.ts';
import { defaultMirrorRegion } from '#operator/staticexport/wanted-mirror.ts';
import { httpUrl, list, path, text, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import type { FlagValues } from '#platform/runtime/flags/flags.ts';
import { readOriginEntry } from '#platform/wire/http-origin.ts';
import type { MirrorLocation } from '#platform/wire/mirror-location.ts';

export const mirrorFlags = {
  allowedMirrorHosts: list(
    'HOST,...',
    'Registries and S3 services of spec.mirror: HOST or HOST:PORT for https, http://HOST:PORT for clear text; AWS: s3.REGION.amazonaws.com (default: none)',
  ),
  allowPrivateMirrorHosts: toggle(
    'Allow hosts of --allowed-mirror-hosts at loopback, private and cluster addresses',
  ),
  defaultMirror: text.optional(
    'Mirror of resources without spec.mirror: oci://HOST/PATH/{namespace}/{name} or s3://BUCKET/PATH/{namespace}/{name}',
  ),
  defaultMirrorCredentials: path.optional(
    'Folder with the keys of the Secret of --default-mirror, read for each copy (default: s3:// uses the identity of the pod, oci:// none)',
  ),
  defaultMirrorEndpoint: httpUrl.optional('S3 service of --default-mirror, other than AWS'),
  defaultMirrorRegion: text.optional(
    `Region of the bucket of --default-mirror (default: ${defaultMirrorRegion})`,
  ),
  defaultMirrorPathStyle: toggle(
    'Write the bucket of --default-mirror into the path, not into the host name',
  ),
  allowHttpDefaultMirror: toggle('Allow plain HTTP to --default-mirror'),
};

type MirrorValues = FlagValues<typeof mirrorFlags>;

/** @returns what is wrong */
export function checkMirrorFlags(values: MirrorValues): string | undefined {
  const wrong = values.allowedMirrorHosts.findIndex((entry) => readOriginEntry(entry) === undefined);
  if (wrong >= 0) {
    return `--allowed-mirror-hosts: entry ${wrong + 1} must be HOST, HOST:PORT or http://HOST:PORT, without path and wildcard; put an IPv6 address in brackets`;
  }
  const own = ownMirrorOf(values);
  const ofBucket = [
    ['--default-mirror-endpoint', values.defaultMirrorEndpoint !== undefined],
    ['--default-mirror-region', values.defaultMirrorRegion !== undefined],
    ['--default-mirror-path-style', values.defaultMirrorPathStyle],
  ] as const;
  const ofAny = [
    ['--default-mirror-credentials', values.defaultMirrorCredentials !== undefined],
    ['--allow-http-default-mirror', values.allowHttpDefaultMirror],
  ] as const;
  if (own === undefined) {
    const [unused] = [...ofBucket, ...ofAny].find(([, isSet]) => isSet) ?? [];
    return unused && `${unused} has no effect without --default-mirror; set the address, or remove it`;
  }
  if (!isPlaceTemplate(own.address)) {
    return '--default-mirror must be oci://HOST/PATH/{namespace}/{name} or s3://BUCKET/PATH/{namespace}/{name}, so that each resource has a place of its own';
  }
  const [unused] = isBucketAddress(own.address) ? [] : (ofBucket.find(([, isSet]) => isSet) ?? []);
  if (unused !== undefined) return `${unused} is for s3://, and --default-mirror is oci://; remove it`;
  if (own.endpoint?.startsWith('http:') === true && !own.isHttpAllowed) {
    return '--default-mirror-endpoint is plain HTTP; write https://, or add --allow-http-default-mirror';
  }
  const problem = problemOfPlace(own);
  return problem && `--default-mirror: ${problem}`;
}

export function mirrorHostsOf(values: MirrorValues): MirrorHosts {
  return {
    allowedHosts: values.allowedMirrorHosts,
    allowPrivateHosts: values.allowPrivateMirrorHosts,
    defaultMirror: ownMirrorOf(values),
  };
}

/** For the settings of the loop, without what only the connection needs. */
export function defaultMirrorOf(values: MirrorValues): MirrorLocation | undefined {
  const own = ownMirrorOf(values);
  if (own === undefined) return undefined;
  const { address, endpoint, region, pathStyle } = own;
  return { address, endpoint, region, pathStyle };
}

function ownMirrorOf(values: MirrorValues): OwnMirror | undefined {
  const { defaultMirror: address } = values;
  return address === undefined
    ? undefined
    : {
        address,
        endpoint: values.defaultMirrorEndpoint,
        region: values.defaultMirrorRegion ?? defaultMirrorRegion,
        pathStyle: values.defaultMirrorPathStyle,
        credentialsFolder: values.defaultMirrorCredentials,
        isHttpAllowed: values.allowHttpDefaultMirror,
      };
}
