// From the address that `--to` names to the carrier behind it, with the flags of a mirror. Private addresses are allowed,
// because the user names the mirror.

import { readProxySettings } from '../../bundle/fetch/proxy-settings.ts';
import type { Carrier } from '../../mirror/carrier.ts';
import { readMirrorSecret } from '../../mirror/mirror-secret.ts';
import { openCarrier } from '../../mirror/open-carrier.ts';
import { openCaFile } from '../../runtime/http/ca-certificates.ts';
import { userAgent } from '../../runtime/version.ts';
import { readAmbientIdentity } from '../../s3/ambient-identity.ts';
import type { CliContext } from '../context.ts';

export interface MirrorValues {
  readonly mirrorCredentials: string | undefined;
  readonly mirrorEndpoint: string | undefined;
  readonly mirrorRegion: string;
  readonly mirrorPathStyle: boolean;
  readonly allowHttpMirror: boolean;
  readonly extraCaFile: string | undefined;
}

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
export const openMirror: OpenMirror = async (address, values, { clock, env }) => {
  const folder = values.mirrorCredentials;
  const access = {
    secret: folder === undefined ? undefined : await readMirrorSecret(folder),
    endpoint: values.mirrorEndpoint,
    region: values.mirrorRegion,
    pathStyle: values.mirrorPathStyle,
    allowPrivateAddresses: true,
    isHttpAllowed: values.allowHttpMirror,
    extraCaPem: await (await openCaFile(values.extraCaFile, () => {})).current(),
    userAgent,
  };
  return openCarrier(address, access, {
    clock,
    proxy: readProxySettings(env),
    identity: readAmbientIdentity(env),
  });
};
