// `spec.mirror` with its defaults applied, or the operator's default mirror in its place. Invariant: with a Secret of the
// resource the operator's own identity is never used, and without one only at the operator's own address.

import type { MirrorLocation } from '#platform/wire/mirror-location.ts';
import { parseDurationMs } from './duration.ts';
import type { SpecMirror } from './mirror-schema.ts';
import type { Spec } from './schema.ts';

/** Where checked bundles are copied. */
export interface WantedMirror extends MirrorLocation {
  /** In the namespace of the resource. `undefined`: the operator's default mirror, reached as the operator. */
  readonly secretName: string | undefined;
  readonly isRequired: boolean;
  readonly compression: 'Zstd' | 'Gzip';
  /** After how long copies without an entry in the history are deleted; `undefined`: never. */
  readonly unlistedMs: number | undefined;
}

const shortestUnlistedMs = 24 * 3_600_000;
export const defaultMirrorRegion = 'us-east-1';

/** @returns `undefined` where the stored spec names no place */
function wantPlace({ oci, s3, policy, compression, retention }: SpecMirror): WantedMirror | undefined {
  const common = {
    isRequired: policy !== 'BestEffort',
    compression: compression ?? 'Zstd',
    unlistedMs:
      retention && Math.max(shortestUnlistedMs, parseDurationMs(retention.unlisted) ?? shortestUnlistedMs),
  };
  if (oci !== undefined) {
    const address = `oci://${oci.repository}`;
    const secretName = oci.secretRef.name;
    const place = { address, endpoint: undefined, region: defaultMirrorRegion, pathStyle: false };
    return { ...common, ...place, secretName };
  }
  if (s3 === undefined) return undefined;
  const { bucket, prefix, endpoint, region = defaultMirrorRegion, pathStyle = false } = s3;
  const address = `s3://${prefix === undefined ? bucket : `${bucket}/${prefix}`}`;
  return { ...common, address, endpoint, region, pathStyle, secretName: s3.secretRef.name };
}

/** @returns `undefined` without a mirror, and where archives are not inspected: they have no digest to copy by */
export function wantMirror(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { mirror, promotion }: Pick<Spec, 'mirror' | 'promotion'>,
  defaultMirror: MirrorLocation | undefined,
): WantedMirror | undefined {
  if (promotion?.inspect === 'Never') return undefined;
  if (mirror !== undefined) return wantPlace(mirror);
  if (defaultMirror === undefined) return undefined;
  return {
    ...defaultMirror,
    address: fillAddress(defaultMirror.address, { namespace, name }),
    secretName: undefined,
    isRequired: true,
    compression: 'Zstd',
    unlistedMs: undefined,
  };
}

/** @param template with `{namespace}` and `{name}` */
export function fillAddress(
  template: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string {
  return template.replaceAll('{namespace}', namespace).replaceAll('{name}', name);
}
