// From the address that `--to` names to the carrier behind it, with the flags of a mirror. Private addresses are allowed,
// because the user names the mirror.

import type { Carrier } from '#mirror/carrier.ts';
import { openCarrier } from '#mirror/open-carrier.ts';
import { readAmbientIdentity } from '#mirror/s3/ambient-identity.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import { type MirrorValues, readMirrorAccess } from '../bundle/mirrored.ts';
import type { CliContext } from '../context.ts';

/** Of the command line; tests give carriers in memory. */
export type OpenMirror = (
  address: string,
  values: MirrorValues,
  context: Pick<CliContext, 'clock' | 'env'>,
) => Promise<Carrier>;

/**
 * @param address `oci://HOST/REPOSITORY` or `s3://BUCKET/PREFIX`
 * @throws {MirrorError} {PublishableError} `ExtraCaUnreadable`, `ExtraCaInvalid`
 */
export const openMirror: OpenMirror = async (address, values, { clock, env }) =>
  openCarrier(address, await readMirrorAccess(values), {
    clock,
    proxy: requireProxySettings(env),
    identity: readAmbientIdentity(env),
  });
